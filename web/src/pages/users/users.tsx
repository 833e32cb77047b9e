import type { UserList } from "../../../../src/contract/report/list-record.ts";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { Empty } from "../../ui/empty.tsx";
import { ListPage } from "../lists/list-page.tsx";
import { Search } from "./search.tsx";
import { texts } from "./texts.ts";

export function UsersPage() {
  const text = useTexts(texts);
  return (
    <ListPage
      list="users"
      title={text.title}
      about={text.about}
      usualSort={{ column: "CreateTime", direction: "desc" }}
      keyOf={({ ClientID }) => ClientID}
      totals={(answer) => <Total answer={answer} />}
      empty={
        <Empty title={text.none}>
          <p>{text.noneHelp}</p>
        </Empty>
      }
    >
      <Search />
    </ListPage>
  );
}

function Total({ answer }: { answer: UserList }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  return <p className="soft">{text.users(number(answer.page_info.total_number))}</p>;
}
