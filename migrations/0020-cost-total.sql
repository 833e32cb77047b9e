-- What the platform says that the account cost on the day, in the app's currency; null when it has not told it.
alter table cost_pull add column total_e4 bigint;

-- The part of cost_e4 that belongs to no ad.
alter table cost_pull add column not_by_ad_e4 bigint not null default 0;

-- A digest of the day's rows: pulls with the same digest agree.
alter table cost_pull add column digest text not null default '';

-- The first of the pulls, one after another, that agree with the last one.
alter table cost_pull add column same_since_ms bigint not null default 0;

update cost_pull set same_since_ms = pulled_at_ms
