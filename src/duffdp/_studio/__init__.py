"""The studio: a page of this machine on which a release is planned, made and handed on."""
