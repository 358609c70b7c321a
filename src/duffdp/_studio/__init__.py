"""The studio: a local web app that plans, makes and exports a release."""
