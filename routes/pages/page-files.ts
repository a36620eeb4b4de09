// The files of one page, or of several that share them. A stylesheet and the modules of `browser/`
// are compiled and served one by one.
import { readFile } from 'node:fs/promises';
import { compiledFile, sourceFile } from '../../runtime/files.ts';
import type { ReplyDeclaration } from '../../runtime/http/route.ts';
import { type AppRoute, defineRoute } from '../define.ts';
import { createAsset } from './asset.ts';

/** What one page is made of, or several that share it. */
export interface PageFiles {
  /** Both its folder here and the path before its files. */
  name: string;
  /** The path of `page.css` behind `base.css`; left out: its own name. */
  styleName?: string;
  /** Files of `browser/` by their names. What is not listed is not served. */
  modules: readonly string[];
}

/** Pages stand in no document and give no problems of their own. */
export const quiet = {
  method: 'GET' as const,
  tag: 'pages',
  documents: [],
  access: { kind: 'none' as const },
  cors: 'none' as const,
  problems: [],
};

/** What every page looks like stands before what is its own. */
const baseStyle = sourceFile('routes/pages/base.css');

/** The routes of the stylesheet and the modules, at `/NAME/…`. */
export function fileRoutes({ name, styleName = 'page.css', modules }: PageFiles): AppRoute[] {
  const styles = [baseStyle, sourceFile(`routes/pages/${name}/page.css`)];
  return [
    fileRoute(name, styleName, styles, 'text/css; charset=utf-8'),
    ...modules.map((module) => {
      const file = compiledFile(`routes/pages/${name}/browser/${module}.js`);
      return fileRoute(name, `${module}.js`, [file], 'text/javascript; charset=utf-8');
    }),
  ];
}

function fileRoute(page: string, name: string, files: readonly URL[], mediaType: string): AppRoute {
  const load = async () => Buffer.concat(await Promise.all(files.map((file) => readFile(file))));
  const asset = createAsset({ load, mediaType, maxAgeSeconds: 0 });
  const replies: Record<number, ReplyDeclaration> = {
    200: { description: 'The file.', mediaType: mediaType.replace(/;.*/, '') },
    304: { description: 'The file has not changed.' },
  };
  return defineRoute({
    ...quiet,
    path: `/${page}/${name}`,
    operationId: `get${capital(page)}PageFile_${name.replaceAll(/\W/g, '_')}`,
    summary: `The file ${name} of the ${page} page`,
    replies,
    handle: ({ exchange }) => asset(exchange),
  });
}

export const capital = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
