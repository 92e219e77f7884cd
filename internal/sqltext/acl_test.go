package sqltext

import (
	"testing"
)

func TestBuildACL(t *testing.T) {
	const ownerTable = `{boss=arwdDxtm/boss}`
	tests := []struct {
		name                                     string
		object, column, schema, objtype          string
		acls, base, owner, prefix, want, wantErr string
		q                                        Quoter
	}{
		{name: "never changed", object: "t", objtype: "TABLE", base: ownerTable, owner: "boss"},
		{
			name: "select to a role", object: "t", schema: "public", objtype: "TABLE",
			acls: `{boss=arwdDxtm/boss,reader=r/boss}`, base: ownerTable, owner: "boss",
			want: "GRANT SELECT ON TABLE public.t TO reader;\n",
		},
		{
			name: "several privileges in pg_dump's order", object: "t", schema: "public", objtype: "TABLE",
			acls: `{boss=arwdDxtm/boss,app=arwd/boss}`, base: ownerTable, owner: "boss",
			want: "GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.t TO app;\n",
		},
		{
			name: "with grant option, partly", object: "t", schema: "public", objtype: "TABLE",
			acls: `{boss=arwdDxtm/boss,app=ar*w*d/boss}`, base: ownerTable, owner: "boss",
			want: "GRANT INSERT,DELETE ON TABLE public.t TO app;\nGRANT SELECT,UPDATE ON TABLE public.t TO app WITH GRANT OPTION;\n",
		},
		{
			name: "all with grant option to public", object: "t", schema: "public", objtype: "TABLE",
			acls: `{boss=arwdDxtm/boss,=a*r*w*d*D*x*t*m*/boss}`, base: ownerTable, owner: "boss",
			want: "GRANT ALL ON TABLE public.t TO PUBLIC WITH GRANT OPTION;\n",
		},
		{
			name: "everything revoked", object: "f(integer)", schema: "public", objtype: "FUNCTION",
			acls: `{}`, base: `{=X/boss,boss=X/boss}`, owner: "boss",
			want: "REVOKE ALL ON FUNCTION public.f(integer) FROM PUBLIC;\nREVOKE ALL ON FUNCTION public.f(integer) FROM boss;\n",
		},
		{
			name: "owner cut down, granted before others", object: "t", schema: "public", objtype: "TABLE",
			acls: `{=r/boss,boss=r/boss}`, base: ownerTable, owner: "boss",
			want: "REVOKE ALL ON TABLE public.t FROM boss;\nGRANT SELECT ON TABLE public.t TO boss;\nGRANT SELECT ON TABLE public.t TO PUBLIC;\n",
		},
		{
			name: "granted by another", object: "t", schema: "public", objtype: "TABLE",
			acls: `{boss=arwdDxtm/boss,app=r*/boss,sub=r/app}`, base: ownerTable, owner: "boss",
			want: "GRANT SELECT ON TABLE public.t TO app WITH GRANT OPTION;\n" +
				"SET SESSION AUTHORIZATION app;\nGRANT SELECT ON TABLE public.t TO sub;\nRESET SESSION AUTHORIZATION;\n",
		},
		{
			name: "column", object: "t", column: `"Col"`, schema: "public", objtype: "TABLE",
			acls: `{app=rw/boss}`, base: `{}`, owner: "boss",
			want: "GRANT SELECT(\"Col\"),UPDATE(\"Col\") ON TABLE public.t TO app;\n",
		},
		{
			name: "column, all", object: "t", column: "c", schema: "public", objtype: "TABLE",
			acls: `{app=arwx/boss}`, base: `{}`, owner: "boss",
			want: "GRANT ALL(c) ON TABLE public.t TO app;\n",
		},
		{
			name: "sequence", object: "s", schema: "public", objtype: "SEQUENCE",
			acls: `{boss=rwU/boss,app=U/boss}`, base: `{boss=rwU/boss}`, owner: "boss",
			want: "GRANT USAGE ON SEQUENCE public.s TO app;\n",
		},
		{
			name: "database", object: "d", objtype: "DATABASE",
			acls: `{boss=CTc/boss}`, base: `{=Tc/boss,boss=CTc/boss}`, owner: "boss",
			want: "REVOKE CONNECT,TEMPORARY ON DATABASE d FROM PUBLIC;\n",
		},
		{
			name: "schema public of 15", object: "public", objtype: "SCHEMA",
			acls: `{pg_database_owner=UC/pg_database_owner,=UC/pg_database_owner}`,
			base: `{pg_database_owner=UC/pg_database_owner,=U/pg_database_owner}`, owner: "pg_database_owner",
			want: "REVOKE USAGE ON SCHEMA public FROM PUBLIC;\nGRANT ALL ON SCHEMA public TO PUBLIC;\n",
		},
		{
			name: "parameter", object: "work_mem", objtype: "PARAMETER",
			acls: `{boss=sA/boss,"Mr X"=s/boss}`, base: `{boss=sA/boss}`, owner: "boss",
			want: "GRANT SET ON PARAMETER work_mem TO \"Mr X\";\n",
		},
		{
			name: "large object", object: "4711", objtype: "LARGE OBJECT",
			acls: `{boss=rw/boss,app=rw/boss}`, base: `{boss=rw/boss}`, owner: "boss",
			want: "GRANT ALL ON LARGE OBJECT 4711 TO app;\n",
		},
		{
			name: "foreign server, type, language, wrapper, tablespace", object: "s1", objtype: "FOREIGN SERVER",
			acls: `{boss=U/boss,app=U*/boss}`, base: `{boss=U/boss}`, owner: "boss",
			want: "GRANT ALL ON FOREIGN SERVER s1 TO app WITH GRANT OPTION;\n",
		},
		{
			name: "odd role names", object: "t", objtype: "TABLE",
			acls: `{"\"a\"\"b=c/d\"=r/\"x y\""}`, base: `{}`, owner: "x y",
			want: "GRANT SELECT ON TABLE t TO \"a\"\"b=c/d\";\n",
		},
		{
			name: "owner unknown", object: "t", objtype: "TABLE",
			acls: `{app=r/boss}`, base: `{}`,
			want: "SET SESSION AUTHORIZATION boss;\nGRANT SELECT ON TABLE t TO app;\nRESET SESSION AUTHORIZATION;\n",
		},
		{
			name: "quote all", object: `"t"`, schema: "public", objtype: "TABLE", q: Quoter{All: true},
			acls: `{app=r/boss}`, base: `{}`, owner: "boss",
			want: "GRANT SELECT ON TABLE \"public\".\"t\" TO \"app\";\n",
		},
		{
			name: "letters the type does not have", object: "f()", objtype: "FUNCTION",
			acls: `{app=r/boss}`, base: `{}`, owner: "boss",
		},
		{
			name: "prefix", object: "t", objtype: "TABLE", prefix: "X ",
			acls: `{app=r/boss}`, base: `{boss=r/boss}`, owner: "boss",
			want: "X REVOKE SELECT ON TABLE t FROM boss;\nX GRANT SELECT ON TABLE t TO app;\n",
		},
		{name: "no equals sign", object: "t", objtype: "TABLE", acls: `{app}`, base: `{}`, wantErr: `malformed ACL item: "app"`},
		{name: "no grantor", object: "t", objtype: "TABLE", acls: `{app=r}`, base: `{}`, wantErr: `malformed ACL item: "app=r"`},
		{name: "no array", object: "t", objtype: "TABLE", acls: `app=r/x`, base: `{}`, wantErr: `malformed array: "app=r/x"`},
		{name: "unknown type", object: "t", objtype: "PIZZA", acls: `{}`, base: `{}`, wantErr: `object type without privileges: "PIZZA"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := BuildACL(tt.q, tt.object, tt.column, tt.schema, tt.objtype, tt.acls, tt.base, tt.owner, tt.prefix, 180000)
			if errText(err) != tt.wantErr || got != tt.want {
				t.Errorf("got\n%s%v\nwant\n%s%s", got, err, tt.want, tt.wantErr)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestBuildDefaultACL(t *testing.T) {
	got, err := BuildDefaultACL(Quoter{}, "TABLES", "App", `{boss=arwdDxtm/boss,app=r/boss}`, `{boss=arwdDxtm/boss}`, "boss", 180000)
	want := "ALTER DEFAULT PRIVILEGES FOR ROLE boss IN SCHEMA \"App\" GRANT SELECT ON TABLES TO app;\n"
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	got, err = BuildDefaultACL(Quoter{}, "FUNCTIONS", "", `{boss=X/boss}`, `{=X/boss,boss=X/boss}`, "boss", 180000)
	want = "ALTER DEFAULT PRIVILEGES FOR ROLE boss REVOKE ALL ON FUNCTIONS FROM PUBLIC;\n"
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func FuzzACLItem(f *testing.F) {
	for _, s := range []string{`app=arwdDxtm/boss`, `=r*/x`, `"a""b=c/d"=r/"x y"`, `"a`, `a="b`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		item, err := ParseACLItem(s)
		if err != nil {
			return
		}
		again, err := ParseACLItem(item.String())
		if err != nil || again != item {
			t.Fatalf("%q reads as %+v, written %q, read again as %+v, %v", s, item, item.String(), again, err)
		}
		if _, err := BuildACL(Quoter{}, "t", "", "s", "TABLE", FormatArray([]string{s}), "{}", "boss", "", 0); err != nil {
			t.Fatal(err)
		}
	})
}
