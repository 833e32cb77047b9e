-- What is left of certain payments after the store's cut, in ten-thousandths. The first rule by position that fits a
-- payment counts, else the app's pay_share_bp. An empty text or null fits every payment; until_day is not part of the
-- period, which goes by the day of the order.
create table pay_share_rule (
  app_id int not null,
  position int not null,
  os_platform text not null,
  channel text not null,
  pay_method text not null,
  is_virtual boolean,
  from_day date,
  until_day date check (until_day > from_day),
  share_bp int not null check (share_bp between 0 and 10000),
  primary key (app_id, position)
);

-- Payments to which a rule applies, and what is left of them in millionths: in all, and within spans of 24 hours.
alter table cube
  add column ruled_cents bigint,
  add column ruled_s1 bigint,
  add column ruled_s3 bigint,
  add column ruled_s7 bigint,
  add column ruled_s14 bigint,
  add column ruled_s30 bigint,
  add column share_micros bigint,
  add column share_s1 bigint,
  add column share_s3 bigint,
  add column share_s7 bigint,
  add column share_s14 bigint,
  add column share_s30 bigint;
