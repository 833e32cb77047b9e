export function nameShipped(folder: string, modules: readonly string[]): void;
