import { useQuery } from "@tanstack/react-query";
import type { UserView } from "../../../../src/contract/admin/admin-user.ts";
import { ApiFailure, get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Failure } from "../../ui/failure.tsx";
import { texts } from "./texts.ts";

const LOOK_MS = 2_000;
const NOT_REGISTERED = 2000;

/** The source of the test player and whether they paid, as soon as the server knows. */
export function PlayerResult({ player }: { player: string }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const user = useQuery({
    queryKey: ["user", app_id, player, "test"],
    queryFn: ({ signal }) =>
      get<UserView>("user", { app_id, client_id: player }, signal).catch((error: unknown) => {
        if (error instanceof ApiFailure && error.code === NOT_REGISTERED) return null;
        throw error;
      }),
    refetchInterval: ({ state }) => (state.data && isAttributed(state.data) && hasPaid(state.data) ? false : LOOK_MS),
  });
  return (
    <section className="stack tight player-result" aria-live="polite">
      <h3>{text.result}</h3>
      {user.error && <Failure error={user.error} onRetry={() => user.refetch()} />}
      <FoundPlayer user={user.data ?? null} player={player} />
    </section>
  );
}

function isAttributed({ source }: UserView): boolean {
  return source.method !== "";
}

function hasPaid({ record }: UserView): boolean {
  return Number(record.user$pay_count) > 0;
}

function FoundPlayer({ user, player }: { user: UserView | null; player: string }) {
  const text = useTexts(texts);
  if (!user) return <span className="soft">{text.waiting(player)}</span>;
  if (!isAttributed(user)) return <Badge tone="warn">{text.organic(player)}</Badge>;
  const { ad_platform, method } = user.source;
  return (
    <div className="row">
      <Badge tone="good">{text.attributed(player, ad_platform)}</Badge>
      <span className="soft">{text.methods[method] ?? method}</span>
      <span className={hasPaid(user) ? undefined : "soft"}>· {hasPaid(user) ? text.paid : text.notPaid}</span>
    </div>
  );
}
