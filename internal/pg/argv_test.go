package pg

import "testing"

func TestPasswordInConnectionString(t *testing.T) {
	for text, want := range map[string]bool{
		"shop": false, "": false, "postgres://u@h/d": false, "postgres://u:p@h/d": true, "postgresql://h/d?password=p": true, "postgres://u:@h/d": false,
		"host=h user=u": false, "host=h password=p": true, "host=h password='a b'": true, "host=h sslpassword=p": true, "password='": false,
	} {
		if got := HasPassword(text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for text, want := range map[string]string{
		"shop":                    "password='a b' dbname=shop",
		"postgres://u@h1,h2:1/d":  "user=u password='a b' dbname=d host='h1,h2' port=',1'",
		"host=h password=old":     "password='a b' host=h",
		"":                        "password='a b'",
		"service=x dbname='my d'": "service=x password='a b' dbname='my d'",
	} {
		got, err := WithPassword(text, "a b")
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if c, err := ParseConfig(got, Overrides{}); err != nil && text != "service=x dbname='my d'" {
			t.Errorf("%s: %v", got, err)
		} else if err == nil && c.s["password"] != "a b" {
			t.Errorf("%s: the password is lost", got)
		}
	}
}
