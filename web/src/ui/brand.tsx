export function Brand() {
  return (
    <div className="brand">
      <img src="/console/icon.svg" alt="" />
      Touchpoint
    </div>
  );
}
