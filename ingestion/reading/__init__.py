"""What all reading needs: bytes of files, patterns in linear time, time zones, the files of the catalogue."""
