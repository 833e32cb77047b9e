import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { nameShipped } from "../bin/shipped.mjs";

const OUTPUT = fileURLToPath(new URL("../dist/web/", import.meta.url));

/** Compresses files at build time, so that the server can send them as they are. */
function compressed(): Plugin {
  return {
    name: "compressed",
    closeBundle() {
      for (const entry of readdirSync(OUTPUT, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(?:js|css|html|svg)$/.test(entry.name)) continue;
        const file = join(entry.parentPath, entry.name);
        const bytes = readFileSync(file);
        writeFileSync(`${file}.br`, brotliCompressSync(bytes));
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

/** Names the packages whose code the browser gets. */
function shipped(): Plugin {
  let modules: string[] = [];
  return {
    name: "shipped",
    generateBundle(_, bundle) {
      modules = Object.values(bundle).flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
    },
    closeBundle() {
      nameShipped(OUTPUT, modules);
    },
  };
}

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/console/",
  plugins: [compressed(), shipped()],
  build: {
    outDir: OUTPUT,
    emptyOutDir: true,
    // The page's Content-Security-Policy refuses inlined scripts and pictures.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    reportCompressedSize: false,
    rolldownOptions: {
      // Libraries mark files for servers that render React; here everything runs in the browser.
      onLog: (level, log, pass) => (log.code === "MODULE_LEVEL_DIRECTIVE" ? undefined : pass(level, log)),
    },
  },
  // For `npm run web` beside `npm start`: Vite serves the pages, the server everything else.
  server: { proxy: { "/admin": "http://127.0.0.1:8080" } },
});
