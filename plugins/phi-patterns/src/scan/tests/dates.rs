//! Dates that only the words around tell: months alone, months with days, holidays.
