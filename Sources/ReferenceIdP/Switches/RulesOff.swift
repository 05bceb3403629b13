public import JOSE

/// Looks up the rules a tenant has switched off; nearly always none.
public typealias RulesOffLookup = (_ tenant: String) -> Set<RuleSwitch>

extension RuleSwitch {
    /// The rule of the proof verifier, where the switch is about one.
    public var proofRule: DPoPRule? { DPoPRule(rawValue: rawValue) }
}

extension Set<RuleSwitch> {
    /// The rules among these that the proof verifier applies.
    var proofRules: Set<DPoPRule> { isEmpty ? [] : Set<DPoPRule>(compactMap(\.proofRule)) }

    /// The names, in the order of the list of rules.
    var names: [String] { RuleSwitch.allCases.filter(contains).map(\.rawValue) }
}

extension Realm {
    /// Whether a rule is switched off for the tenant.
    func skips(_ rule: RuleSwitch) -> Bool { tenant.rulesOff.contains(rule) }

    /// The same by the name of a finding's rule, which may have no switch.
    func skips(ruleNamed name: String) -> Bool {
        !tenant.rulesOff.isEmpty && (RuleSwitch(rawValue: name).map(skips) ?? false)
    }
}

extension SenseCryptIdP {
    /// Whether any tenant has a rule switched off.
    var hasRulesOff: Bool { !tenantsWithRulesOff.isEmpty }

    /// The rules a tenant has switched off, for the intake.
    public func rulesOff(tenant: String) -> Set<RuleSwitch> {
        guard hasRulesOff else { return [] }
        return realms.peek(tenant) { $0.tenant.rulesOff } ?? []
    }

    /// Notes whether a tenant has rules off, so that the others cost nothing.
    mutating func noteRulesOff(_ tenant: String) {
        let isOff = realms.peek(tenant) { !$0.tenant.rulesOff.isEmpty } ?? false
        if isOff { tenantsWithRulesOff.insert(tenant) } else { tenantsWithRulesOff.remove(tenant) }
    }
}
