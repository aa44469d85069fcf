import js from "@eslint/js";

const BROWSER = [
  "document",
  "location",
  "window",
  "Element",
  "HTMLAnchorElement",
  "HTMLDialogElement",
  "URLSearchParams",
  "setTimeout",
];

export default [
  { ignores: ["dist"] },
  { files: ["build.js"], languageOptions: { globals: { process: "readonly" } } },
  js.configs.recommended,
  {
    languageOptions: { globals: Object.fromEntries(BROWSER.map((name) => [name, "readonly"])) },
    rules: {
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
      complexity: ["error", 8],
      "max-lines-per-function": ["error", 50],
    },
  },
];
