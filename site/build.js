// Bundles src/ into one classic script that works from file://, and lists the licences of what is in it.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const [, , folder = "dist"] = process.argv;
const { metafile } = await build({
  entryPoints: ["src/main.js"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  outfile: `${folder}/site.js`,
  metafile: true,
});

const PACKAGE = /^node_modules\/(?:@[^/]+\/)?[^/]+/;
const bundled = Object.values(metafile.outputs)
  .flatMap((output) => Object.entries(output.inputs))
  .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  .map(([path]) => PACKAGE.exec(path)?.[0]);
const texts = [...new Set(bundled)]
  .filter((place) => place !== undefined)
  .sort()
  .map((place) => {
    const { name, version, license } = JSON.parse(readFileSync(`${place}/package.json`, "utf8"));
    const file = readdirSync(place).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name} ${version} (${license})\n\n${file ? readFileSync(`${place}/${file}`, "utf8").trim() : ""}\n`;
  });
writeFileSync(`${folder}/licenses.txt`, texts.join(`\n${"-".repeat(80)}\n\n`));
