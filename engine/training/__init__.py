"""Needs torch, so only workers import it."""
