import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import type { AccountList } from "../../../../src/contract/setting/account.ts";
import type { ReturnedAuthorisation, SeenAccount } from "../../../../src/contract/setting/authorisation.ts";
import { post } from "../../api.ts";
import { useChange } from "../../change.ts";
import { useAppName } from "../../chosen-app.tsx";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Check } from "../../ui/field.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Progress } from "../../ui/progress.tsx";
import { ACCOUNT_VIEWS } from "../cost/account-query.ts";
import { texts } from "./texts.ts";

const ACCOUNTS = "/cost?tab=accounts";

/**
 * Where a platform sends people back. What it has sent is handed to the server once, and leaves the address at once: a code
 * has no place in the browser's history.
 */
export function AuthorisedPage() {
  const text = useTexts(texts).page;
  const [returned] = useState(() => Object.fromEntries(new URLSearchParams(location.search)));
  useEffect(() => history.replaceState(null, "", location.pathname), []);
  const listed = useQuery({
    queryKey: ["accounts/authorise/return", returned.state ?? ""],
    queryFn: () => post<ReturnedAuthorisation>("accounts/authorise/return", { returned }),
    enabled: returned.state !== undefined,
    // A state can be used once.
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
  if (listed.data) return <Choice authorisation={listed.data} />;
  return (
    <>
      <PageHead title={text.title} />
      {listed.error ? <Failure error={listed.error} /> : listed.isLoading && <Progress />}
      {returned.state === undefined && (
        <Empty title={text.nothing}>
          <p>{text.nothingHelp}</p>
        </Empty>
      )}
      {!listed.isLoading && (
        <p>
          <Link href={ACCOUNTS}>{text.back}</Link>
        </p>
      )}
    </>
  );
}

function Choice({ authorisation }: { authorisation: ReturnedAuthorisation }) {
  const { authorisation_id, app_id, ad_platform, accounts, left_out, trouble } = authorisation;
  const text = useTexts(texts).page;
  const [, goTo] = useLocation();
  const platformName = usePlatformName();
  const appName = useAppName();
  const [chosen, setChosen] = useState(() => new Set(firstChosen(accounts)));
  const [costs, setCosts] = useState(true);
  const accountsPage = `/cost?app=${app_id}&tab=accounts`;
  // The navigation shows the app that the accounts are for.
  useEffect(() => history.replaceState(null, "", `${location.pathname}?app=${app_id}`), [app_id]);
  const connecting = useChange({
    ask: () =>
      post<AccountList>("accounts/authorise/choose", {
        authorisation_id,
        advertiser_ids: [...chosen],
        ...(costs && { costs: "on" }),
      }),
    stale: ACCOUNT_VIEWS,
    said: (connected) => text.done(connected.accounts.length),
    onDone: () => goTo(accountsPage, { replace: true }),
  });
  return (
    <>
      <PageHead title={text.title} about={text.about(platformName(ad_platform), appName(app_id))} />
      {trouble !== "" && <Failure error={text.trouble(trouble)} />}
      <SeenTable accounts={accounts} chosen={chosen} onChange={setChosen} />
      {left_out > 0 && <p className="soft small">{text.leftOut(left_out)}</p>}
      <Check label={text.costs} checked={costs} onChange={setCosts} />
      {connecting.error && <Failure error={connecting.error} />}
      <div className="row">
        <Button look="main" disabled={chosen.size === 0 || connecting.isPending} onClick={() => connecting.mutate()}>
          {text.submit(chosen.size)}
        </Button>
        <Link href={accountsPage}>{text.back}</Link>
      </div>
    </>
  );
}

/** Accounts of the app get new tokens, because the old ones may end with this authorisation. A single one is meant. */
function firstChosen(accounts: readonly SeenAccount[]): string[] {
  const known = accounts.filter(({ is_known }) => is_known || accounts.length === 1);
  return known.map(({ advertiser_id }) => advertiser_id);
}

type SeenTableProps = {
  accounts: readonly SeenAccount[];
  chosen: ReadonlySet<string>;
  onChange: (chosen: Set<string>) => void;
};

function SeenTable({ accounts, chosen, onChange }: SeenTableProps) {
  const text = useTexts(texts).page;
  const { columns: titles } = text;
  const all = accounts.map(({ advertiser_id }) => advertiser_id);
  const isAll = all.length > 0 && chosen.size === all.length;
  const choose = (id: string, isChosen: boolean) =>
    onChange(new Set(all.filter((one) => (one === id ? isChosen : chosen.has(one)))));
  const columns: Column<SeenAccount>[] = [
    {
      name: "choose",
      title: <Check label={text.all} checked={isAll} onChange={(wanted) => onChange(new Set(wanted ? all : []))} />,
      cell: ({ advertiser_id, name }) => (
        <Check
          label={<span className="visually-hidden">{`${titles.choose} ${name || advertiser_id}`}</span>}
          checked={chosen.has(advertiser_id)}
          onChange={(isChosen) => choose(advertiser_id, isChosen)}
        />
      ),
    },
    { name: "name", title: titles.name, cell: ({ name }) => name || "–" },
    { name: "id", title: titles.id, cell: ({ advertiser_id }) => advertiser_id },
    {
      name: "state",
      title: titles.state,
      cell: ({ is_known }) => <Badge tone={is_known ? "accent" : "plain"}>{is_known ? text.known : text.isNew}</Badge>,
    },
  ];
  const empty = (
    <Empty title={text.none}>
      <p>{text.noneHelp}</p>
    </Empty>
  );
  return (
    <DataTable
      label={text.table}
      columns={columns}
      rows={accounts}
      keyOf={({ advertiser_id }) => advertiser_id}
      empty={empty}
    />
  );
}
