import { dataOf, postForStream } from "../../api.ts";
import { saveFile } from "../../save-file.ts";

/** Fetches a file and hands it to the browser. Throws a refusal with the server's message. */
export async function downloadCsv(path: string, body: object, fileName: string): Promise<void> {
  const response = await postForStream(path, body);
  if (!response.headers.get("content-type")?.startsWith("text/csv")) {
    await dataOf(response);
    throw new Error("The server sent no file.");
  }
  saveFile(await response.blob(), fileName);
}
