/** Styles are bundled as text, for sheets that a page adopts. */
declare module '*.css' {
  const text: string;
  export default text;
}
