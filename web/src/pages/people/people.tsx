import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ConsoleUser, ConsoleUserList, InvitedUser } from "../../../../src/contract/setting/session.ts";
import { get } from "../../api.ts";
import { useAppName } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useMay } from "../../may.ts";
import { ROLE_NAMES } from "../../role-name.tsx";
import { useSession } from "../../session.tsx";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { AddDialog, LinkDialog, NewLinkDialog } from "./invitation.tsx";
import { PEOPLE_KEY, RemoveDialog, ResetFactorDialog, RoleDialog, SignOutDialog } from "./membership.tsx";
import { texts } from "./texts.ts";
import "./people.css";

type Doing =
  | { what: "add" }
  | { what: "link" | "role" | "remove" | "sign_out" | "reset"; user: ConsoleUser }
  | { what: "hand_over"; user: InvitedUser };

export function PeoplePage() {
  const text = useTexts(texts);
  const mayChange = useMay("installation");
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  const handOver = (user: InvitedUser) => setDoing({ what: "hand_over", user });
  const people = useQuery({
    queryKey: PEOPLE_KEY,
    queryFn: ({ signal }) => get<ConsoleUserList>("console-users", {}, signal),
  });
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        {mayChange && (
          <Button look="main" onClick={() => setDoing({ what: "add" })}>
            {text.add}
          </Button>
        )}
      </PageHead>
      <QueryView query={people}>{({ users }) => <PeopleTable users={users} onDo={setDoing} />}</QueryView>
      {doing?.what === "add" && <AddDialog onClose={close} onInvited={handOver} />}
      {doing?.what === "link" && <NewLinkDialog name={doing.user.name} onClose={close} onInvited={handOver} />}
      {doing?.what === "hand_over" && <LinkDialog user={doing.user} onClose={close} />}
      {doing?.what === "role" && <RoleDialog user={doing.user} onClose={close} />}
      {doing?.what === "sign_out" && <SignOutDialog user={doing.user} onClose={close} />}
      {doing?.what === "reset" && <ResetFactorDialog user={doing.user} onClose={close} />}
      {doing?.what === "remove" && <RemoveDialog user={doing.user} onClose={close} />}
    </>
  );
}

function PeopleTable({ users, onDo }: { users: readonly ConsoleUser[]; onDo: (doing: Doing) => void }) {
  const text = useTexts(texts);
  const format = useFormat();
  const mayChange = useMay("installation");
  const own = useSession().name;
  const names = useTexts(ROLE_NAMES);
  const nameOf = useAppName();
  const columns: Column<ConsoleUser>[] = [
    {
      name: "name",
      title: text.columns.name,
      cell: ({ name, has_second_factor }) => (
        <span className="row">
          <strong>{name}</strong>
          {name === own && <Badge>{text.you}</Badge>}
          {has_second_factor && <Badge tone="good">{text.hasFactor}</Badge>}
        </span>
      ),
    },
    {
      name: "role",
      title: text.columns.role,
      cell: ({ grants }) => (
        <span className="row">
          {grants.map(({ app_id, role }) => (
            <Badge key={app_id} tone={role === "admin" ? "accent" : "plain"}>
              {names[role]} · {app_id === null ? text.allApps : nameOf(app_id)}
            </Badge>
          ))}
        </span>
      ),
    },
    { name: "created", title: text.columns.created, cell: ({ created_at_ms }) => format.instant(created_at_ms) },
  ];
  if (mayChange) {
    columns.push({
      name: "actions",
      title: text.columns.actions,
      cell: (user) => (
        <span className="row">
          <Button size="small" onClick={() => onDo({ what: "role", user })}>
            {text.changeRole}
          </Button>
          <Button size="small" onClick={() => onDo({ what: "link", user })}>
            {text.newLink}
          </Button>
          <Button size="small" onClick={() => onDo({ what: "sign_out", user })}>
            {text.signOut}
          </Button>
          {user.has_second_factor && (
            <Button size="small" onClick={() => onDo({ what: "reset", user })}>
              {text.reset}
            </Button>
          )}
          <Button size="small" look="danger" onClick={() => onDo({ what: "remove", user })}>
            {text.remove}
          </Button>
        </span>
      ),
    });
  }
  return <DataTable label={text.title} columns={columns} rows={users} keyOf={({ name }) => name} />;
}
