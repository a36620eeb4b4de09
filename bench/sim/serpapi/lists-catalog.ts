// Engines of products, papers and suggestions.
import type { Members } from '../members.ts';
import { paperOf, pictureOf, productOf } from '../search/facts.ts';
import type { Found } from '../search/found.ts';
import { type Lists, linkOf, titleOf } from './list.ts';

type CatalogEngine = 'google_shopping' | 'google_scholar' | 'google_autocomplete';

export const catalogLists: Readonly<Record<CatalogEngine, Lists>> = {
  google_shopping: {
    state: 'shopping',
    render: (found) => ({ shopping_results: found.map(product) }),
  },
  google_scholar: {
    state: 'organic',
    render: (found) => ({ organic_results: found.map(paper) }),
  },
  google_autocomplete: {
    state: 'suggestions',
    render: (found, { topic }) => ({
      suggestions: found.map(({ isBad, place }) => ({
        ...(isBad ? {} : { value: `${topic} ${place}` }),
        relevance: 1_000 - place,
        type: 'QUERY',
        serpapi_link: 'https://serpapi.com/search.json?engine=google',
      })),
    }),
  },
};

function product(result: Found, index: number): Members {
  const { dollars, price, ratingCount, id } = productOf(result);
  return {
    position: index + 1,
    ...titleOf(result),
    ...linkOf(result),
    product_link: `https://search.example.com/product/${id}`,
    product_id: id,
    serpapi_product_api: 'https://serpapi.com/search.json?engine=google_product',
    source: result.domain,
    price,
    extracted_price: dollars,
    ...(result.hash % 2 === 0 ? { rating: 4.2, reviews: ratingCount } : {}),
    snippet: result.snippet,
    // Pictures may stand in the reply itself.
    thumbnail:
      result.hash % 4 === 0
        ? 'data:image/gif;base64,R0lGODlhAQABAAAAACw='
        : pictureOf(result).thumbnailUrl,
    ...(result.hash % 3 === 0 ? { delivery: 'Free delivery' } : {}),
  };
}

function paper(result: Found, index: number): Members {
  const { authors, summary, citedBy, pdfUrl, id } = paperOf(result);
  const isNamed = result.hash % 4 < 2;
  return {
    position: index + 1,
    ...titleOf(result),
    result_id: id,
    ...linkOf(result),
    snippet: result.snippet,
    publication_info: {
      summary,
      ...(isNamed ? { authors: authors.map((name) => ({ name, author_id: name })) } : {}),
    },
    ...(pdfUrl === null
      ? {}
      : { resources: [{ title: result.domain, file_format: 'PDF', link: pdfUrl }] }),
    inline_links: {
      serpapi_cite_link: 'https://serpapi.com/search.json?engine=google_scholar_cite',
      cited_by: { total: citedBy, link: `${result.link}/citing`, cites_id: id },
    },
  };
}
