-- What an account gets back of what its ads cost in a period: as money, or as credit on top of what is paid in.
-- until_day is not part of the period; null: the period has no end. Shares are in ten-thousandths.
create table rebate (
  app_id int not null,
  ad_platform text not null,
  advertiser_id text not null,
  from_day date not null,
  until_day date check (until_day > from_day),
  cash_bp int not null,
  credit_bp int not null,
  changed_at_ms bigint not null,
  primary key (app_id, ad_platform, advertiser_id, from_day)
);
