package sqltext

import (
	"slices"
	"testing"
)

func TestAlterConfig(t *testing.T) {
	for _, tt := range []struct{ item, kind, name, inKind, inName, want string }{
		{"work_mem=64MB", "DATABASE", "app", "", "", "ALTER DATABASE app SET work_mem TO '64MB';\n"},
		{"DateStyle=ISO, MDY", "DATABASE", "app", "", "", "ALTER DATABASE app SET \"DateStyle\" TO 'ISO, MDY';\n"},
		{`search_path="$user", public, "My App"`, "ROLE", "bob", "DATABASE", "App",
			"ALTER ROLE bob IN DATABASE \"App\" SET search_path TO '$user', 'public', 'My App';\n"},
		{`search_path=""`, "ROLE", "bob", "", "", "ALTER ROLE bob SET search_path TO '';\n"},
		{`app.motto=it's a=b`, "ROLE", "bob", "", "", "ALTER ROLE bob SET \"app.motto\" TO 'it''s a=b';\n"},
		{`x=a\b`, "ROLE", "bob", "", "", "ALTER ROLE bob SET x TO E'a\\\\b';\n"},
		{"broken", "ROLE", "bob", "", "", ""},
	} {
		if got := AlterConfig(Quoter{}, tt.item, tt.kind, tt.name, tt.inKind, tt.inName); got != tt.want {
			t.Errorf("AlterConfig(%q) = %q, want %q", tt.item, got, tt.want)
		}
	}
}

func TestSplitSettingList(t *testing.T) {
	tests := []struct {
		in   string
		want []string
		ok   bool
	}{
		{"", nil, true},
		{"  ", nil, true},
		{`a, "B c" ,d`, []string{"a", "B c", "d"}, true},
		{`"a""b"`, []string{`a"b`}, true},
		{`""`, []string{""}, true},
		{`MixedCase`, []string{"MixedCase"}, true},
		{`a,`, nil, false},
		{`,a`, nil, false},
		{`a b`, nil, false},
		{`"a`, nil, false},
		{`"a"b`, nil, false},
	}
	for _, tt := range tests {
		got, err := SplitSettingList(tt.in, ',')
		if (err == nil) != tt.ok || !slices.Equal(got, tt.want) {
			t.Errorf("SplitSettingList(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
}
