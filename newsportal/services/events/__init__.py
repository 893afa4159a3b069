"""Events of the record: ``following`` fills them, ``timeline`` shows them, ``editing`` changes them."""
