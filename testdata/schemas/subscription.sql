CREATE SUBSCRIPTION sub1 CONNECTION 'host=nowhere dbname=''my db'' password=\''secret' PUBLICATION pub1, "Odd Pub" WITH (connect = false, slot_name = NONE);
CREATE SUBSCRIPTION "Odd Sub" CONNECTION 'dbname=x' PUBLICATION p WITH (connect = false, slot_name = 'slot_a', binary = true, streaming = on, synchronous_commit = 'local', two_phase = true, disable_on_error = true);
COMMENT ON SUBSCRIPTION sub1 IS 'from nowhere';
DO $$ BEGIN
  IF current_setting('server_version_num')::int >= 160000 THEN
    EXECUTE 'CREATE SUBSCRIPTION sub16 CONNECTION ''dbname=x'' PUBLICATION p WITH (connect = false, slot_name = NONE, origin = none, streaming = parallel, password_required = false, run_as_owner = true)';
  END IF;
  IF current_setting('server_version_num')::int >= 170000 THEN
    EXECUTE 'CREATE SUBSCRIPTION sub17 CONNECTION ''dbname=x'' PUBLICATION p WITH (connect = false, slot_name = ''s17'', failover = true)';
  END IF;
END $$;
