<<<<<<< HEAD
/** Styles are bundled as text, for sheets that a page adopts. */
=======
/** A style sheet as its text, as the bundle has it. */
>>>>>>> 8c21947 (Draw the widget: launcher, thread, composer and what pages start it with)
declare module '*.css' {
  const text: string;
  export default text;
}
