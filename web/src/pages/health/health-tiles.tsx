import type { HealthAnswer } from "../../../../src/contract/admin/health.ts";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { Tile } from "../../ui/tile.tsx";
import { texts } from "./texts.ts";

export function HealthTiles({ health }: { health: HealthAnswer }) {
  const text = useTexts(texts);
  const { number, bytes } = useFormat();
  const { intake, disk, database, lanes } = health;
  const sum = (name: "waiting" | "in_flight") => lanes.reduce((all, lane) => all + lane[name], 0);
  const has = (problem: HealthAnswer["problems"][number]) => health.problems.includes(problem);
  return (
    <div className="tiles health-tiles">
      <Tile
        name={text.lag}
        value={<Figure isBad={has("apply_behind")}>{spanText(intake.apply_lag_ms, number)}</Figure>}
      >
        <span className="soft small">{text.lagHelp}</span>
      </Tile>
      <Tile name={text.backlog} value={<Figure isBad={has("journal_full")}>{bytes(intake.backlog_bytes)}</Figure>}>
        <Meter value={intake.backlog_bytes} max={intake.backlog_bytes_max} label={text.backlog} />
        <span className="soft small">
          {intake.backlog_entries === null ? text.entriesUnknown : text.entries(number(intake.backlog_entries))} ·{" "}
          {text.backlogOf(bytes(intake.backlog_bytes_max))}
        </span>
      </Tile>
      <Tile
        name={text.disk}
        value={<Figure isBad={has("disk_short") || has("disk_filling")}>{bytes(disk.free_bytes)}</Figure>}
      >
        <span className="soft small">{text.diskMin(bytes(disk.free_bytes_min))}</span>
      </Tile>
      <Tile
        name={text.database}
        value={<Figure isBad={!database}>{database ? bytes(database.bytes) : text.databaseAway}</Figure>}
      >
        {database && (
          <span className="soft small">
            PostgreSQL {database.version} · {text.databaseKinds[database.kind]}
          </span>
        )}
      </Tile>
      <ReplicaTile health={health} />
      <Tile
        name={text.cube}
        value={
          <Figure isBad={has("cube_behind")}>
            {!database
              ? "–"
              : database.cube_slices_waiting === 0
                ? text.cubeFresh
                : spanText(database.cube_age_ms, number)}
          </Figure>
        }
      >
        {database && <span className="soft small">{text.slices(number(database.cube_slices_waiting))}</span>}
      </Tile>
      <Tile
        name={text.postbacks}
        value={<Figure isBad={has("lane_paused")}>{database ? number(sum("waiting")) : "–"}</Figure>}
      >
        <span className="soft small">{text.inFlight(number(sum("in_flight")))}</span>
      </Tile>
      <Tile
        name={text.setAsideTile}
        value={<Figure isBad={has("set_aside")}>{database ? number(database.set_aside) : "–"}</Figure>}
      />
      <LakeTiles health={health} />
      <BackupTile health={health} />
      <Tile name={text.memory} value={bytes(health.memory_bytes)}>
        <span className="soft small">{text.watchers(number(health.live_watchers))}</span>
      </Tile>
    </div>
  );
}

function ReplicaTile({ health: { replica } }: { health: HealthAnswer }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  if (!replica) return null;
  const { obstacle, lag_ms: lagMs } = replica;
  return (
    <Tile
      name={text.replica}
      value={<Figure isBad={obstacle !== ""}>{obstacle === "" ? spanText(lagMs, number) : text.replicaAway}</Figure>}
    >
      <span className="soft small">{obstacle === "" ? text.replicaHelp : obstacle}</span>
    </Tile>
  );
}

function LakeTiles({ health: { lake, problems } }: { health: HealthAnswer }) {
  const text = useTexts(texts);
  const { number, bytes } = useFormat();
  if (!lake) return null;
  const { bucket } = lake;
  const has = (...wanted: HealthAnswer["problems"]) => wanted.some((problem) => problems.includes(problem));
  return (
    <>
      <Tile name={text.lake} value={<Figure isBad={has("lake_failing", "lake_behind")}>{bytes(lake.bytes)}</Figure>}>
        <span className="soft small">
          {text.lakeAbout(number(lake.files), number(lake.waiting_days))}
          {lake.failure !== "" && ` · ${lake.failure}`}
        </span>
      </Tile>
      {bucket && (
        <Tile
          name={text.bucket}
          value={<Figure isBad={has("bucket_failing", "bucket_behind")}>{bytes(bucket.bytes)}</Figure>}
        >
          <span className="soft small">
            {text.bucketAbout(number(bucket.files), number(bucket.waiting_files))}
            {bucket.failure !== "" && ` · ${bucket.failure}`}
          </span>
        </Tile>
      )}
    </>
  );
}

function BackupTile({ health: { backup, now_ms: nowMs, problems } }: { health: HealthAnswer }) {
  const text = useTexts(texts);
  const { ago, bytes, instant } = useFormat();
  const isBad = problems.includes("backup_failing") || problems.includes("backup_late");
  if (!backup) return <Tile name={text.backup} value={text.backupOff} />;
  const { last_at_ms: lastAtMs, next_at_ms: nextAtMs, failure } = backup;
  return (
    <Tile
      name={text.backup}
      value={<Figure isBad={isBad}>{lastAtMs === null ? text.backupNone : ago(lastAtMs, nowMs)}</Figure>}
    >
      <span className="soft small">
        {text.backupAbout(bytes(backup.bytes), instant(Math.max(nextAtMs, nowMs)))}
        {failure !== "" && ` · ${failure}`}
      </span>
    </Tile>
  );
}

function Figure({ isBad, children }: { isBad: boolean; children: string }) {
  return <span className={isBad ? "bad-figure" : undefined}>{children}</span>;
}

function Meter({ value, max, label }: { value: number; max: number; label: string }) {
  return <meter className="fill" value={value} max={max} high={max * 0.5} aria-label={label} />;
}

/** 340 ms, 12.5 s, 4 min, 3 h */
export function spanText(ms: number, number: (value: number) => string): string {
  if (ms < 1_000) return `${number(Math.round(ms))} ms`;
  if (ms < 120_000) return `${number(Math.round(ms / 100) / 10)} s`;
  if (ms < 7_200_000) return `${number(Math.round(ms / 60_000))} min`;
  return `${number(Math.round(ms / 360_000) / 10)} h`;
}
