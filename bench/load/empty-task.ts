// Piscina task that does nothing: what a task costs by itself.

// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default function emptyTask(): void {}
