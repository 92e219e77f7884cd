package drill

import (
	"fmt"
	"slices"
	"strings"
)

// Rule says why something of the copy may differ from the source, or a statement of the restore fail. A finding that
// fits no rule that applies fails the drill.
type Rule struct {
	Name string
	// Object is what the name may be followed by, after a colon, to mean only that one: "extension", say. Empty: nothing.
	Object string
	// Meaning is a sentence about what is expected and why.
	Meaning string
	// Asked rules apply only where Options.Allow names them: they let a drill pass that proves less.
	Asked bool
}

// The rules' names.
const (
	ruleTablespace       = "tablespace-default"
	ruleStockText        = "stock-text"
	ruleMoneyLocale      = "money-locale"
	ruleDatabaseGiven    = "database-given"
	ruleRoleStubbed      = "role-stubbed"
	rulePlatformRole     = "platform-role-stubbed"
	rulePlatformObject   = "platform-object-stubbed"
	ruleExtension        = "extension-not-available"
	ruleExtensionVersion = "extension-version"
	ruleLibrary          = "library-not-available"
	ruleLabelProvider    = "label-provider-not-available"
	ruleLocale           = "locale-not-available"
)

var rules = []Rule{
	{Name: ruleTablespace, Meaning: "A tablespace is a folder of the source's machine; everything of the copy is in the default one."},
	{Name: ruleStockText, Meaning: "The archive has no manifest, and its text was written by another version of pg_dump; only white space differs."},
	{Name: ruleMoneyLocale, Meaning: "The source's locale of money is not set for the copy's sessions; amounts that differ would show in the rows."},
	{Name: ruleDatabaseGiven, Meaning: "The copy was restored into a database that was given; its own name, owner, settings and privileges are not those of the source."},
	{Name: ruleRoleStubbed, Meaning: "A role of the source stands in on the throwaway server as a superuser that cannot log in, so that owners and privileges can be restored."},
	{Name: rulePlatformRole, Meaning: "A role that the source's platform provides was made as on the platform, without a password."},
	{Name: rulePlatformObject, Meaning: "An object that the source's platform provides and the archive refers to, without holding it, was made as a stand-in."},
	{Name: ruleExtension, Object: "extension", Asked: true, Meaning: "The drill's server lacks an extension; it, and what depends on it, is not restored."},
	{Name: ruleExtensionVersion, Object: "extension", Asked: true, Meaning: "The drill's server has another version of an extension."},
	{Name: ruleLibrary, Object: "function", Asked: true, Meaning: "The drill's server lacks the library of a function in C; it, and what depends on it, is not restored."},
	{Name: ruleLabelProvider, Object: "provider", Asked: true, Meaning: "The drill's server has no provider of some security labels; they are not restored."},
	{Name: ruleLocale, Object: "locale", Asked: true, Meaning: "The drill's server lacks the database's locale; the copy is created with the server's own."},
}

// Rules returns all rules, in the order in which they are tried.
func Rules() []Rule { return slices.Clone(rules) }

// rule returns the rule of that name.
func rule(name string) *Rule {
	for i := range rules {
		if rules[i].Name == name {
			return &rules[i]
		}
	}
	return nil
}

// Allowance is a rule that is to apply: all of it, or only to one object.
type Allowance struct {
	Rule   string
	Object string // empty: any
}

// String returns the form that ParseAllowance reads.
func (a Allowance) String() string {
	if a.Object == "" {
		return a.Rule
	}
	return a.Rule + ":" + a.Object
}

// ParseAllowance reads a rule's name, or a name and an object with a colon between them.
func ParseAllowance(text string) (Allowance, error) {
	name, object, given := strings.Cut(text, ":")
	r := rule(name)
	switch {
	case r == nil:
		var names []string
		for i := range rules {
			if rules[i].Asked {
				names = append(names, rules[i].Name)
			}
		}
		return Allowance{}, fmt.Errorf("there is no rule %q; the rules are %s", name, strings.Join(names, ", "))
	case !r.Asked:
		return Allowance{}, fmt.Errorf("rule %s always applies", name)
	case given && object == "":
		return Allowance{}, fmt.Errorf("rule %s is followed by a colon and no %s", name, r.Object)
	}
	return Allowance{name, object}, nil
}

// applied is a rule that explains a finding, with the object that it is about.
type applied struct {
	rule   *Rule
	object string
}

// String returns the rule's name, with the object that can be named with it.
func (a applied) String() string { return Allowance{a.rule.Name, a.object}.String() }

// allowed says whether the rule applies.
func (a applied) allowed(list []Allowance) bool {
	return !a.rule.Asked || slices.ContainsFunc(list, func(x Allowance) bool {
		return x.Rule == a.rule.Name && (x.Object == "" || x.Object == a.object)
	})
}
