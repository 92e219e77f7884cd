package platform

import "encoding/json"

// claim is the expression that reads a claim of the request: the setting of its own that older
// PostgREST gives it, else the member of the one that holds all claims.
func claim(name string) string {
	return `coalesce(nullif(current_setting('request.jwt.claim.` + name + `', true), ''), ` +
		`nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> '` + name + `')`
}

// function makes an SQL function.
func function(name, args, returns, volatility, body string) string {
	return "CREATE FUNCTION " + name + "(" + args + ") RETURNS " + returns + " LANGUAGE sql " + volatility + " AS $stub$ " + body + " $stub$;\n"
}

// apiRoles are those that a request can have.
const apiRoles = "anon, authenticated, service_role"

// schemaFor makes a schema that the roles of requests may use.
func schemaFor(name string) string {
	return "CREATE SCHEMA " + name + "; GRANT USAGE ON SCHEMA " + name + " TO " + apiRoles + ";\n"
}

func schema(name string) object {
	return object{kind: "SCHEMA", name: name, sql: schemaFor(name)}
}

// private is a schema that the roles of requests may not use.
func private(name string) object {
	return object{kind: "SCHEMA", name: name, sql: "CREATE SCHEMA " + name + ";\n"}
}

// authClaim is a function of schema auth that returns a claim.
func authClaim(name, returns, of string) object {
	return object{kind: "FUNCTION", schema: "auth", name: name, sql: function("auth."+name, "", returns, "STABLE", "SELECT ("+claim(of)+")::"+returns)}
}

// onPath is a function of schema storage of an object's name.
func onPath(name, returns, body string) object {
	return object{kind: "FUNCTION", schema: "storage", name: name, args: "text", sql: function("storage."+name, "name text", returns, "IMMUTABLE", body)}
}

// extension is one that the platform has in schema extensions, with the names by which definitions tell that they need it.
func extension(name string, words ...string) object {
	return object{kind: "EXTENSION", schema: "extensions", name: name, words: words, sql: "CREATE EXTENSION " + quote.Ident(name) + " WITH SCHEMA extensions;\n"}
}

// supabase follows the initial schema and migrations of github.com/supabase/postgres, and those of its auth and storage services.
var supabase = &Profile{
	Name: "supabase", Title: "Supabase",
	sure:  []string{"supabase_admin", "supabase_auth_admin", "supabase_storage_admin"},
	marks: []string{"anon", "authenticated", "service_role", "auth.uid", "auth.jwt", "auth.role", "auth.users", "storage.foldername"},
	own: []string{"auth", "extensions", "graphql", "graphql_public", "net", "pgbouncer", "pgsodium", "pgsodium_masks", "pgmq", "cron",
		"_realtime", "_analytics", "supabase_functions", "supabase_migrations", "vault"},
	roles: []role{
		{name: "anon", options: "NOINHERIT"},
		{name: "authenticated", options: "NOINHERIT"},
		{name: "service_role", options: "NOINHERIT BYPASSRLS"},
		{name: "authenticator", options: "NOINHERIT", in: []string{"anon", "authenticated", "service_role"}},
		{name: "supabase_admin", options: "SUPERUSER CREATEDB CREATEROLE REPLICATION BYPASSRLS"},
		{name: "supabase_auth_admin", options: "NOINHERIT CREATEROLE"},
		{name: "supabase_storage_admin", options: "NOINHERIT CREATEROLE", in: []string{"authenticator"}},
		{name: "supabase_functions_admin", options: "NOINHERIT CREATEROLE"},
		{name: "supabase_realtime_admin", options: "NOINHERIT"},
		{name: "supabase_replication_admin", options: "REPLICATION"},
		{name: "supabase_etl_admin", options: "REPLICATION BYPASSRLS", in: []string{"pg_read_all_data"}},
		{name: "supabase_read_only_user", options: "BYPASSRLS", in: []string{"pg_read_all_data"}},
		{name: "dashboard_user", options: "CREATEDB CREATEROLE REPLICATION"},
		{name: "pgbouncer"},
		{name: "pgsodium_keyiduser"},
		{name: "pgsodium_keyholder", in: []string{"pgsodium_keyiduser"}},
		{name: "pgsodium_keymaker", in: []string{"pgsodium_keyholder"}},
	},
	objects: []object{
		schema("auth"),
		schema("storage"),
		schema("extensions"),
		schema("realtime"),
		private("graphql"),
		schema("graphql_public"),
		private("vault"),
		private("supabase_functions"),
		private("supabase_migrations"),
		private("net"),
		private("cron"),

		extension("uuid-ossp", "uuid_generate_v1", "uuid_generate_v1mc", "uuid_generate_v3", "uuid_generate_v4", "uuid_generate_v5", "uuid_nil"),
		extension("pgcrypto", "gen_random_uuid", "crypt", "gen_salt", "gen_random_bytes", "digest", "hmac", "encrypt", "decrypt",
			"pgp_sym_encrypt", "pgp_sym_decrypt", "pgp_pub_encrypt", "pgp_pub_decrypt", "armor", "dearmor"),
		extension("vector", "vector", "halfvec", "sparsevec", "vector_cosine_ops", "vector_l2_ops", "vector_ip_ops"),
		extension("pg_trgm", "gin_trgm_ops", "gist_trgm_ops", "similarity", "word_similarity", "show_trgm"),
		extension("citext", "citext"),
		extension("hstore", "hstore"),
		extension("ltree", "ltree"),
		extension("unaccent", "unaccent"),
		extension("btree_gist", "gist_int4_ops", "gist_int8_ops", "gist_text_ops", "gist_uuid_ops", "gist_timestamptz_ops"),
		extension("postgis", "geometry", "geography", "st_makepoint", "st_dwithin", "st_distance"),

		authClaim("uid", "uuid", "sub"),
		authClaim("role", "text", "role"),
		authClaim("email", "text", "email"),
		{kind: "FUNCTION", schema: "auth", name: "jwt", sql: function("auth.jwt", "", "jsonb", "STABLE",
			"SELECT coalesce(nullif(current_setting('request.jwt.claim', true), ''), nullif(current_setting('request.jwt.claims', true), ''))::jsonb")},

		onPath("foldername", "text[]", "SELECT (string_to_array(name, '/'))[1:array_length(string_to_array(name, '/'), 1) - 1]"),
		onPath("filename", "text", "SELECT (string_to_array(name, '/'))[array_length(string_to_array(name, '/'), 1)]"),
		onPath("extension", "text", "SELECT reverse(split_part(reverse((string_to_array(name, '/'))[array_length(string_to_array(name, '/'), 1)]), '.', 1))"),
		{kind: "FUNCTION", schema: "storage", name: "operation", sql: function("storage.operation", "", "text", "STABLE", "SELECT current_setting('storage.operation', true)")},
		{kind: "FUNCTION", schema: "realtime", name: "topic", sql: function("realtime.topic", "", "text", "STABLE", "SELECT nullif(current_setting('realtime.topic', true), '')::text")},

		{kind: "TABLE", schema: "auth", name: "users", since: 12, sql: authUsers},
		{kind: "TABLE", schema: "auth", name: "identities", since: 12, sql: authIdentities},
		{kind: "TABLE", schema: "auth", name: "sessions", sql: authSessions},
		{kind: "TABLE", schema: "storage", name: "buckets", sql: storageBuckets},
		{kind: "TABLE", schema: "storage", name: "objects", since: 13, sql: storageObjects},
	},
	users: "auth.users", userRole: "authenticated",
	claims: []Claims{
		{Name: "anon", Role: "anon", Claims: json.RawMessage(`{"role":"anon"}`)},
		{Name: "authenticated, unknown user", Role: "authenticated", Claims: json.RawMessage(`{"role":"authenticated","sub":"00000000-0000-0000-0000-000000000000"}`)},
		{Name: "service_role", Role: "service_role", Claims: json.RawMessage(`{"role":"service_role"}`)},
	},
}

// The tables have the columns, keys and defaults of the real ones. What is more than a key may be null, for
// the rows that stand for those of the platform have nothing else.
const (
	authUsers = `CREATE TABLE auth.users (
    instance_id uuid,
    id uuid NOT NULL PRIMARY KEY,
    aud character varying(255),
    role character varying(255),
    email character varying(255),
    encrypted_password character varying(255),
    email_confirmed_at timestamp with time zone,
    invited_at timestamp with time zone,
    confirmation_token character varying(255),
    confirmation_sent_at timestamp with time zone,
    recovery_token character varying(255),
    recovery_sent_at timestamp with time zone,
    email_change_token_new character varying(255),
    email_change character varying(255),
    email_change_sent_at timestamp with time zone,
    last_sign_in_at timestamp with time zone,
    raw_app_meta_data jsonb,
    raw_user_meta_data jsonb,
    is_super_admin boolean,
    created_at timestamp with time zone,
    updated_at timestamp with time zone,
    phone text UNIQUE,
    phone_confirmed_at timestamp with time zone,
    phone_change text DEFAULT '',
    phone_change_token character varying(255) DEFAULT '',
    phone_change_sent_at timestamp with time zone,
    confirmed_at timestamp with time zone GENERATED ALWAYS AS (LEAST(email_confirmed_at, phone_confirmed_at)) STORED,
    email_change_token_current character varying(255) DEFAULT '',
    email_change_confirm_status smallint DEFAULT 0,
    banned_until timestamp with time zone,
    reauthentication_token character varying(255) DEFAULT '',
    reauthentication_sent_at timestamp with time zone,
    is_sso_user boolean DEFAULT false NOT NULL,
    deleted_at timestamp with time zone,
    is_anonymous boolean DEFAULT false NOT NULL
);
ALTER TABLE auth.users ENABLE ROW LEVEL SECURITY;
`
	authIdentities = `CREATE TABLE auth.identities (
    provider_id text,
    user_id uuid,
    identity_data jsonb,
    provider text,
    last_sign_in_at timestamp with time zone,
    created_at timestamp with time zone,
    updated_at timestamp with time zone,
    email text GENERATED ALWAYS AS (lower((identity_data ->> 'email'::text))) STORED,
    id uuid NOT NULL PRIMARY KEY,
    UNIQUE (provider_id, provider)
);
ALTER TABLE auth.identities ENABLE ROW LEVEL SECURITY;
`
	authSessions = `CREATE TABLE auth.sessions (
    id uuid NOT NULL PRIMARY KEY,
    user_id uuid,
    created_at timestamp with time zone,
    updated_at timestamp with time zone,
    factor_id uuid,
    aal text,
    not_after timestamp with time zone,
    refreshed_at timestamp without time zone,
    user_agent text,
    ip inet,
    tag text
);
ALTER TABLE auth.sessions ENABLE ROW LEVEL SECURITY;
`
	storageBuckets = `CREATE TABLE storage.buckets (
    id text NOT NULL PRIMARY KEY,
    name text UNIQUE,
    owner uuid,
    created_at timestamp with time zone DEFAULT now(),
    updated_at timestamp with time zone DEFAULT now(),
    public boolean DEFAULT false,
    avif_autodetection boolean DEFAULT false,
    file_size_limit bigint,
    allowed_mime_types text[],
    owner_id text
);
ALTER TABLE storage.buckets ENABLE ROW LEVEL SECURITY;
GRANT ALL ON TABLE storage.buckets TO ` + apiRoles + `;
`
	storageObjects = `CREATE TABLE storage.objects (
    id uuid DEFAULT gen_random_uuid() NOT NULL PRIMARY KEY,
    bucket_id text,
    name text,
    owner uuid,
    created_at timestamp with time zone DEFAULT now(),
    updated_at timestamp with time zone DEFAULT now(),
    last_accessed_at timestamp with time zone DEFAULT now(),
    metadata jsonb,
    path_tokens text[] GENERATED ALWAYS AS (string_to_array(name, '/'::text)) STORED,
    version text,
    owner_id text,
    user_metadata jsonb,
    UNIQUE (bucket_id, name)
);
ALTER TABLE storage.objects ENABLE ROW LEVEL SECURITY;
GRANT ALL ON TABLE storage.objects TO ` + apiRoles + `;
`
)
