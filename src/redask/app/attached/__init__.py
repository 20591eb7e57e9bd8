"""Attached tables of an open database: who reads, computes and keeps them up; what is told."""
