// Piscina task: draws the PDF of a document. Fonts and their subsets take a third of a second.
import '../../runtime/work/background.ts';
import type { IssuedDocument } from '../documents/document.ts';
import { invoicePdf } from '../documents/pdf.ts';

// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default function invoicePdfTask(document: IssuedDocument): Promise<Uint8Array> {
  return invoicePdf(document);
}
