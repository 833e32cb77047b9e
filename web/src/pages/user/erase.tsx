import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import type { Erased } from "../../../../src/contract/admin/admin-user.ts";
import { post, queries } from "../../api.ts";
import { useTexts } from "../../texts.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { say } from "../../ui/toast.tsx";

const texts = {
  en: {
    title: "Erase this user",
    about:
      "This permanently deletes everything stored about this user: registration, device, events, orders, postbacks, and touches that belong to this user alone. Reports are recalculated without the user.",
    type: "Type the client ID to confirm",
    erase: "Erase permanently",
    erased: (id: string) => `${id} erased.`,
    accepted: (id: string) => `${id} will be erased once the pending data has been processed.`,
  },
  zh: {
    title: "删除此用户",
    about:
      "将永久删除此用户的全部数据：注册、设备、事件、订单、回传，以及仅属于该用户的触点。报表将在去除该用户后重新计算。",
    type: "输入用户 ID 以确认",
    erase: "永久删除",
    erased: (id: string) => `${id} 已删除。`,
    accepted: (id: string) => `${id} 将在待处理数据写入后删除。`,
  },
};

type EraseDialogProps = { appId: number; clientId: string; onClose: () => void };

/** Erasing cannot be undone, so the ID has to be typed. */
export function EraseDialog({ appId, clientId, onClose }: EraseDialogProps) {
  const text = useTexts(texts);
  const [typed, setTyped] = useState("");
  const [, navigate] = useLocation();
  const erasing = useMutation({
    mutationFn: () => post<Erased>("users/erase", { app_id: appId, client_id: clientId }),
    onSuccess: ({ state }) => {
      say(state === "erased" ? text.erased(clientId) : text.accepted(clientId));
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey.includes(clientId) });
      void queries.invalidateQueries();
      navigate(`/users?app=${appId}`);
    },
  });
  return (
    <FormDialog
      title={text.title}
      onClose={onClose}
      submit={{ label: text.erase, look: "danger", disabled: typed !== clientId }}
      doing={erasing}
    >
      <p>{text.about}</p>
      <p className="mono">{clientId}</p>
      <TextField label={text.type} value={typed} onChange={setTyped} autoComplete="off" autoFocus />
    </FormDialog>
  );
}
