import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { UserSearch } from "../../../../src/contract/admin/admin-user.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { TextField } from "../../ui/field.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { useUrlState } from "../../url-state.ts";
import { userAddress } from "../lists/user-address.ts";
import { texts } from "./texts.ts";

/** Finds a user by any id that identifies one person. */
export function Search() {
  const text = useTexts(texts);
  const [{ find }, change] = useUrlState({ find: "" });
  const [typed, setTyped] = useState(find);
  return (
    <div className="stack tight">
      <form
        className="user-search"
        onSubmit={(event) => {
          event.preventDefault();
          change({ find: typed.trim() });
        }}
      >
        <TextField type="search" label={text.find} hint={text.findHint} value={typed} onChange={setTyped} />
        <Button type="submit" disabled={typed.trim() === "" && find === ""}>
          {text.go}
        </Button>
      </form>
      {find !== "" && <Found id={find} />}
    </div>
  );
}

type FoundUser = UserSearch["users"][number];

function Found({ id }: { id: string }) {
  const text = useTexts(texts);
  const { app_id, currency } = useApp();
  const { cents } = useFormat();
  const platformName = usePlatformName();
  const query = useQuery({
    queryKey: ["user-search", app_id, id],
    queryFn: ({ signal }) => get<UserSearch>("user/search", { app_id, q: id }, signal),
  });
  return (
    <QueryView query={query}>
      {({ users }) => (
        <DataTable<FoundUser>
          label={text.found}
          rows={users}
          keyOf={(user) => user.client_id}
          empty={
            <Empty title={text.nobody}>
              <p>{text.nobodyHelp}</p>
            </Empty>
          }
          columns={[
            {
              name: "client_id",
              title: text.clientId,
              cell: (user) => (
                <Link className="mono" href={userAddress(app_id, user.client_id)}>
                  {user.client_id}
                </Link>
              ),
            },
            {
              name: "found_by",
              title: text.foundBy,
              cell: (user) => (
                <span className="row">
                  {user.found_by.map((by) => (
                    <Badge key={by} tone="accent">
                      {text.ids[by as keyof typeof text.ids] ?? by}
                    </Badge>
                  ))}
                </span>
              ),
            },
            { name: "name", title: text.name, cell: (user) => user.name },
            { name: "registered_at", title: text.registered, cell: (user) => user.registered_at },
            {
              name: "ad_platform",
              title: text.platform,
              cell: (user) => platformName(user.ad_platform),
            },
            { name: "pay_cents", title: text.paid(currency), kind: "number", cell: (user) => cents(user.pay_cents) },
          ]}
        />
      )}
    </QueryView>
  );
}
