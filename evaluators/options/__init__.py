"""Options Alpha: option tasks whose truth is computed by the pricing engine."""
