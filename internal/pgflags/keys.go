package pgflags

// Keys are what a command reads backups with. Secrets themselves never stand on a command line.
type Keys struct {
	Identities     []string // files
	PassphraseFile string
	AskPassphrase  bool
	VerifyKey      string // file; "": signatures are not demanded
}

// KeyFlag is one of the flags that fill in Keys or Locks.
type KeyFlag struct {
	Name, Arg, Help string // Arg "": it takes none

	Value any // what it fills in: a *[]string, *string or *bool
}

// Flags returns the flags that fill in k.
func (k *Keys) Flags() []KeyFlag {
	return []KeyFlag{
		{Name: "identity", Arg: "FILE", Help: "open encrypted backups with the age identities or the SSH private key in this file; may be repeated; default: the environment's PGHAUL_IDENTITY", Value: &k.Identities},
		{Name: "passphrase-file", Arg: "FILE", Help: "open encrypted backups with the passphrase in this file; default: the environment's PGHAUL_PASSPHRASE", Value: &k.PassphraseFile},
		{Name: "passphrase", Help: "ask for that passphrase", Value: &k.AskPassphrase},
		{Name: "verify-key", Arg: "FILE", Help: "refuse backups that no SSH public key in this file, or allowed signers file, has signed; default: the environment's PGHAUL_VERIFY_KEY", Value: &k.VerifyKey},
	}
}

// Check refuses what contradicts itself.
func (k *Keys) Check() error { return onePassphrase(k.PassphraseFile, k.AskPassphrase) }

// Locks are what a backup is encrypted to and signed with.
type Locks struct {
	Recipients      []string
	RecipientsFiles []string
	PassphraseFile  string
	AskPassphrase   bool
	SignKey         string // file
}

// Flags returns the flags that fill in l.
func (l *Locks) Flags() []KeyFlag {
	return []KeyFlag{
		{Name: "recipient", Arg: "KEY", Help: "encrypt so that this age recipient (age1...) or SSH key (ssh-ed25519 ..., ssh-rsa ...) can open it; may be repeated", Value: &l.Recipients},
		{Name: "recipients-file", Arg: "FILE", Help: "encrypt to all such keys in this file, one on a line; may be repeated", Value: &l.RecipientsFiles},
		{Name: "passphrase-file", Arg: "FILE", Help: "encrypt with the passphrase in this file; without any of these, with that in the environment's PGHAUL_PASSPHRASE", Value: &l.PassphraseFile},
		{Name: "passphrase", Help: "ask for a passphrase to encrypt with", Value: &l.AskPassphrase},
		{Name: "sign-key", Arg: "FILE", Help: "sign with this SSH private key (ed25519)", Value: &l.SignKey},
	}
}

// Check refuses what contradicts itself.
func (l *Locks) Check() error {
	if (l.PassphraseFile != "" || l.AskPassphrase) && len(l.Recipients)+len(l.RecipientsFiles) > 0 {
		return usagef("a backup is encrypted to recipients or with a passphrase, not both")
	}
	return onePassphrase(l.PassphraseFile, l.AskPassphrase)
}

func onePassphrase(file string, ask bool) error {
	if file != "" && ask {
		return together("--passphrase", "--passphrase-file")
	}
	return nil
}

// keyOptions are the flags as options of a table. None can be shortened, so that what scripts shorten stays as it was.
func keyOptions(group string, flags []KeyFlag) []option {
	var out []option
	for _, f := range flags {
		o := option{long: f.Name, arg: f.Arg, group: group, help: f.Help, whole: true}
		switch v := f.Value.(type) {
		case *[]string:
			o.set = appendTo(v)
		case *string:
			o.set = setString(v)
		case *bool:
			o.set = setTrue(v)
		}
		out = append(out, o)
	}
	return out
}
