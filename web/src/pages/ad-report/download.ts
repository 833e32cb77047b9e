import { dataOf, postForStream } from "../../api.ts";

/** Asks for a file and hands it to the browser. A refusal is thrown in the server's words. */
export async function downloadCsv(path: string, body: object, fileName: string): Promise<void> {
  const response = await postForStream(path, body);
  if (!response.headers.get("content-type")?.startsWith("text/csv")) {
    await dataOf(response);
    throw new Error("The server sent no file.");
  }
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(address);
}
