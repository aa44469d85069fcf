import js from "@eslint/js";

export default [
  js.configs.recommended,
  {
    languageOptions: { globals: { __ENV: "readonly", open: "readonly", console: "readonly" } }, // what k6 offers
    rules: {
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
      complexity: ["error", 8],
      "max-lines-per-function": ["error", 50],
    },
  },
];
