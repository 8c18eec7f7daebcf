export default function Orders() {
  return (
    <main>
      <h1>Your orders</h1>
    </main>
  );
}
