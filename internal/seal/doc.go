// Package seal encrypts what leaves for a store and says who wrote it. What comes in are streams and
// the keys of people: age recipients and identities, SSH keys, passphrases. What goes out are age
// files (age-encryption.org/v1), which the age tool opens as well, and signatures in OpenSSH's format, which
// ssh-keygen -Y verify checks as well.
//
// Each stream is a file of its own, encrypted to the recipients. With a passphrase that would cost a second and 256 MiB
// for each (scrypt); therefore an identity is made for the backup, everything is encrypted to that, and the
// identity, encrypted with the passphrase, is stored once ([KeyName]).
package seal
