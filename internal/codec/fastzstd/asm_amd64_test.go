package fastzstd

func setPortable(on bool) { portable = on }
