import { useState } from "react";
import type { Account, AccountList, GivenUp } from "../../../../src/contract/setting/account.ts";
import { post } from "../../api.ts";
import { useAppQuery } from "../../app-query.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { AccountName } from "../../ui/account-name.tsx";
import { useActionColumn } from "../../ui/action-column.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ListHead } from "../../ui/list-head.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { ConnectDialog } from "../authorise/connect-dialog.tsx";
import { texts as authoriseTexts } from "../authorise/texts.ts";
import { usePlatforms } from "../campaigns/platform-choice.tsx";
import { TestDialog } from "../postback-test/test-dialog.tsx";
import { AccountForm } from "./account-form.tsx";
import { ACCOUNT_VIEWS, ACCOUNTS } from "./account-query.ts";
import { texts } from "./account-texts.ts";

type Doing = { kind: "create" | "connect" } | { kind: "edit" | "test" | "remove"; account: Account };

/** Accounts at ad platforms. */
export function Accounts() {
  const text = useTexts(texts);
  const { connect } = useTexts(authoriseTexts);
  const [doing, setDoing] = useState<Doing>();
  const accounts = useAppQuery<AccountList>(ACCOUNTS);
  const close = () => setDoing(undefined);
  return (
    <>
      <ListHead about={text.about} add={text.newAccount} onAdd={() => setDoing({ kind: "create" })}>
        <Button onClick={() => setDoing({ kind: "connect" })}>{connect}</Button>
      </ListHead>
      <QueryView query={accounts}>{(data) => <AccountTable accounts={data.accounts} onDo={setDoing} />}</QueryView>
      {doing?.kind === "connect" && <ConnectDialog accounts={accounts.data?.accounts ?? []} onClose={close} />}
      {doing?.kind === "create" && <AccountForm onClose={close} />}
      {doing?.kind === "edit" && <AccountForm account={doing.account} onClose={close} />}
      {doing?.kind === "test" && <TestDialog account={doing.account} onClose={close} />}
      {doing?.kind === "remove" && <RemoveDialog account={doing.account} onClose={close} />}
    </>
  );
}

function AccountTable({ accounts, onDo }: { accounts: readonly Account[]; onDo: (doing: Doing) => void }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const { columns: titles } = text;
  const actions = useActionColumn<Account>({
    onEdit: (account) => onDo({ kind: "edit", account }),
    onRemove: (account) => onDo({ kind: "remove", account }),
    more: (account) =>
      account.postbacks === "on" && (
        <Button size="small" onClick={() => onDo({ kind: "test", account })}>
          {text.test}
        </Button>
      ),
  });
  const columns: Column<Account>[] = [
    {
      name: "account",
      title: titles.account,
      cell: ({ ad_platform, advertiser_id }) => (
        <AccountName platform={ad_platform} advertiser={advertiser_id} none={text.allAdvertisers} />
      ),
    },
    { name: "uses", title: titles.uses, cell: (account) => <Uses account={account} /> },
    { name: "settings", title: titles.settings, cell: (account) => <Settings account={account} /> },
    {
      name: "rate",
      kind: "number",
      title: titles.rate,
      cell: ({ rate }) => (rate === 0 ? text.noLimit : number(rate)),
    },
    { name: "state", title: titles.state, cell: (account) => <State account={account} /> },
    ...actions,
  ];
  return (
    <DataTable
      label={text.table}
      columns={columns}
      rows={accounts}
      keyOf={({ ad_platform, advertiser_id }) => `${ad_platform} ${advertiser_id}`}
      empty={
        <Empty title={text.none}>
          <p>{text.noneHelp}</p>
        </Empty>
      }
    />
  );
}

type OfAccount = { account: Account };

function Uses({ account: { ad_platform, postbacks, costs } }: OfAccount) {
  const text = useTexts(texts);
  const { data } = usePlatforms();
  const pulled = data?.publishers.includes(ad_platform) === true ? text.revenue : text.costs;
  if (postbacks === "off" && costs === "off") return <span className="soft">{text.nothing}</span>;
  return (
    <span className="row nowrap">
      {postbacks === "on" && <Badge tone="accent">{text.postbacks}</Badge>}
      {costs === "on" && <Badge tone="accent">{pulled}</Badge>}
    </span>
  );
}

/** Lists the settings, but only counts the secrets. */
function Settings({ account: { settings, secrets } }: OfAccount) {
  const text = useTexts(texts);
  const names = [...Object.keys(settings), ...(secrets.length > 0 ? [text.secrets(secrets.length)] : [])];
  return <span className="small">{names.join(", ")}</span>;
}

function State({ account }: OfAccount) {
  const text = useTexts(texts);
  const { last_error, last_error_at, token_expires_at } = account;
  if (last_error === "") {
    return (
      <div>
        {account.refresh_state === "lasts" && <Badge tone="good">{text.works}</Badge>}
        <RefreshEnd account={account} />
        {token_expires_at !== "" && <div className="small soft">{text.tokenUntil(token_expires_at)}</div>}
      </div>
    );
  }
  return (
    <div className="account-trouble">
      <Badge tone="bad">{text.trouble}</Badge>
      <div className="small soft">
        {last_error} ({last_error_at})
      </div>
      <RefreshEnd account={account} />
    </div>
  );
}

/** Warns days before somebody has to authorise again. */
function RefreshEnd({ account: { refresh_state, refresh_expires_at } }: OfAccount) {
  const text = useTexts(texts);
  if (refresh_state === "lasts") return null;
  const isEnded = refresh_state === "ended";
  return (
    <div className="account-trouble">
      <Badge tone={isEnded ? "bad" : "warn"}>{isEnded ? text.refreshEnded : text.refreshEnds}</Badge>
      <div className="small soft">{text.refreshAt(refresh_expires_at)}</div>
    </div>
  );
}

function RemoveDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const text = useTexts(texts);
  const app = useApp();
  const platformName = usePlatformName();
  const { ad_platform, advertiser_id } = account;
  return (
    <ChangeDialog
      title={text.removeTitle}
      submit={{ label: text.remove, look: "danger" }}
      ask={() => post<GivenUp>("accounts/remove", { app_id: app.app_id, ad_platform, advertiser_id })}
      stale={ACCOUNT_VIEWS}
      said={({ given_up }) => text.removed(given_up)}
      onClose={onClose}
    >
      <p>{text.removeAbout(`${platformName(ad_platform)} ${advertiser_id}`.trimEnd())}</p>
    </ChangeDialog>
  );
}
