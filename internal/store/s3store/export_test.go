package s3store

import (
	"time"

	minio "github.com/minio/minio-go/v7"
)

func init() {
	minPart = 64 << 10                       // the fake server takes small parts, which makes small objects large ones
	minio.DefaultRetryUnit = time.Nanosecond // it pauses after each failure, even after the last
}
