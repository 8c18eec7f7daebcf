/** Styles are bundled as text, for sheets that a page adopts. */
declare module '*.css' {
  const text: string;
  export default text;
}

/** Words of a language: `tests/web/sdk/languages.test.ts` holds each file complete. */
declare module '*.json' {
  const words: import('./languages/language.ts').Words;
  export default words;
}
