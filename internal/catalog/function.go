package catalog

import (
	"context"
	"strconv"
	"strings"
)

// Func is a row of pg_proc that is not an aggregate.
type Func struct {
	Meta
	LangOID      uint32
	ArgTypes     []uint32
	RetType      uint32
	Lang         string
	Details      *FuncDetails // only of functions of which something is dumped
	PostponedDef bool         // function must be postponed into post-data, to break a loop
}

// FuncDetails is what CREATE FUNCTION and CREATE PROCEDURE say.
type FuncDetails struct {
	ProKind            byte    // f function, p procedure, w window
	Args               string  // pg_get_function_arguments
	IdentityArgs       string  // pg_get_function_identity_arguments
	Result             *string // pg_get_function_result, nil for procedures
	RetSet             bool
	Src, Bin           string
	SQLBody            *string // pg_get_function_sqlbody, then Src and Bin do not count
	Volatile           byte    // i s v
	Strict             bool
	SecurityDefiner    bool
	Leakproof          bool
	Cost, Rows         string
	Support            string   // regproc, "-" for none
	Parallel           byte     // s r u
	Config             []string // "name=value"
	TransformTypes     []uint32
	DependsOnExtension []string // names of the extensions it is marked to depend on
}

func (r *reader) funcsStage() stage {
	return stage{"functions", r.fetchFuncs, r.linkFuncs}
}

func (r *reader) fetchFuncs(ctx context.Context, q Querier) error {
	sql := `
SELECT p.oid, p.proname, p.pronamespace, p.proowner, p.proacl, pg_catalog.acldefault('f', p.proowner),
  p.prolang, l.lanname, p.proargtypes, p.prorettype` + r.procSource() + `
  AND ` + r.since(11, "p.prokind <> 'a'", "NOT p.proisagg") + `
  -- these come with the object they belong to, as a range's constructors do
  AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'i')
ORDER BY p.oid`
	err := query(ctx, q, sql, func(row *row) {
		f := &Func{Meta: r.objectMeta(row, KindFunc, ClassProc)}
		f.objectACL(row)
		f.LangOID, f.Lang, f.ArgTypes, f.RetType = row.oid(), row.str(), row.oids(), row.oid()
		r.selectObject(&f.Meta)
		r.funcRows = append(r.funcRows, f)
	})
	if err != nil {
		return err
	}

	sql = `
SELECT p.oid, ` + r.since(11, "p.prokind", "CASE WHEN p.proiswindow THEN 'w' ELSE 'f' END") + `,
  pg_catalog.pg_get_function_arguments(p.oid), pg_catalog.pg_get_function_identity_arguments(p.oid),
  pg_catalog.pg_get_function_result(p.oid), p.proretset, p.prosrc, p.probin,
  ` + r.since(14, "pg_catalog.pg_get_function_sqlbody(p.oid)", "NULL") + `,
  p.provolatile, p.proisstrict, p.prosecdef, p.proleakproof, p.procost, p.prorows,
  ` + r.since(12, "p.prosupport", "'-'") + `, p.proparallel, p.proconfig, p.protrftypes,
  ARRAY(SELECT e.extname FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
    WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'x'
      AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass)
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_proc p ON p.oid = w.oid`
	return details(ctx, q, pick(r.funcRows, r.rendered), sql, func(f *Func, row *row) {
		f.Details = &FuncDetails{
			ProKind: row.char(), Args: row.str(), IdentityArgs: row.str(), Result: row.strPtr(), RetSet: row.bool(),
			Src: row.str(), Bin: row.str(), SQLBody: row.strPtr(),
			Volatile: row.char(), Strict: row.bool(), SecurityDefiner: row.bool(), Leakproof: row.bool(),
			Cost: row.str(), Rows: row.str(), Support: row.str(), Parallel: row.char(), Config: row.strs(),
			TransformTypes: row.oids(), DependsOnExtension: row.strs(),
		}
	})
}

// procSource is FROM and WHERE of the queries for functions and aggregates: those outside pg_catalog, those whose
// privileges were changed since initdb or CREATE EXTENSION, and those that casts and transforms of users name;
// in binary upgrade also the members of extensions.
func (r *reader) procSource() string {
	sql := `
FROM pg_catalog.pg_proc p
  LEFT JOIN pg_catalog.pg_language l ON l.oid = p.prolang
  LEFT JOIN pg_catalog.pg_init_privs i ON i.objoid = p.oid AND i.objsubid = 0
    AND i.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass
WHERE (p.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace
  OR p.proacl IS DISTINCT FROM i.initprivs
  OR p.oid IN (SELECT castfunc FROM pg_catalog.pg_cast WHERE oid > %LAST%)
  OR p.oid IN (SELECT trffromsql FROM pg_catalog.pg_transform WHERE oid > %LAST%)
  OR p.oid IN (SELECT trftosql FROM pg_catalog.pg_transform WHERE oid > %LAST%)`
	if r.db.Options.BinaryUpgrade {
		sql += `
  OR p.oid IN (SELECT objid FROM pg_catalog.pg_depend WHERE deptype = 'e'
    AND classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass)`
	}
	return strings.ReplaceAll(sql, "%LAST%", strconv.Itoa(lastBuiltinOID)) + ")"
}

func (r *reader) linkFuncs() error {
	addAll(r.db, r.funcRows)
	r.db.Funcs = append(r.db.Funcs, r.funcRows...)
	r.funcRows = nil
	return nil
}
