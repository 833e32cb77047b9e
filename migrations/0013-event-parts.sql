-- A partition of event holds the days from `day` until `until_day`: one day, or many that lie far from their receipt.
alter table event_day add column until_day date;

update event_day set until_day = day + 1;

alter table event_day alter column until_day set not null
