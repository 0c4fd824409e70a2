"""The domains of the paper's table 7: which occupation is in which is ours, how many are in each is as printed."""

from __future__ import annotations

from collections.abc import Mapping

DOMAINS: Mapping[str, tuple[str, ...]] = {
    "Finance & Business": (
        "Accountants and Auditors",
        "Buyers and Purchasing Agents",
        "Financial and Investment Analysts",
        "Financial Managers",
        "General and Operations Managers",
        "Personal Financial Advisors",
        "Real Estate Brokers",
        "Real Estate Sales Agents",
        "Sales Managers",
        "Sales Representatives, Wholesale and Manufacturing, Except Technical and Scientific Products",
        "Sales Representatives, Wholesale and Manufacturing, Technical and Scientific Products",
        "Securities, Commodities, and Financial Services Sales Agents",
    ),
    "Legal & Compliance": (
        "Administrative Services Managers",
        "Compliance Officers",
        "Editors",
        "First-Line Supervisors of Police and Detectives",
        "Lawyers",
        "News Analysts, Reporters, and Journalists",
        "Private Detectives and Investigators",
        "Property, Real Estate, and Community Association Managers",
    ),
    "Healthcare & Medical": (
        "Child, Family, and School Social Workers",
        "First-Line Supervisors of Office and Administrative Support Workers",
        "Medical and Health Services Managers",
        "Medical Secretaries and Administrative Assistants",
        "Nurse Practitioners",
        "Pharmacists",
        "Registered Nurses",
    ),
    "Technical & Engineering": (
        "Audio and Video Technicians",
        "Computer and Information Systems Managers",
        "Film and Video Editors",
        "First-Line Supervisors of Production and Operating Workers",
        "Industrial Engineers",
        "Mechanical Engineers",
        "Producers and Directors",
        "Project Management Specialists",
        "Software Developers",
    ),
    "Administrative & Operations": (
        "Concierges",
        "Counter and Rental Clerks",
        "Customer Service Representatives",
        "First-Line Supervisors of Non-Retail Sales Workers",
        "First-Line Supervisors of Retail Sales Workers",
        "Order Clerks",
        "Recreation Workers",
        "Shipping, Receiving, and Inventory Clerks",
    ),
}

DOMAIN_OF = {occupation: domain for domain, occupations in DOMAINS.items() for occupation in occupations}
