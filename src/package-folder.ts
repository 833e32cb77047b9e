/** The folder of package.json, seen from src, from the modules built into dist/src, and from the bundle in dist/bundle. */
export const PACKAGE = new URL(/\/dist\/(?:src|bundle)\//.test(import.meta.url) ? "../../" : "../", import.meta.url);
