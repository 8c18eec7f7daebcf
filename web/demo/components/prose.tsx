/** Words of a sample, paragraph by paragraph. */
export function PlainProse({ md }: { readonly md: string }) {
  return (
    <>
      {md.split('\n\n').map((part) => (
        <p key={part}>{part}</p>
      ))}
    </>
  );
}
