import Encoding

extension SenseCryptIdP {
    /// Replaces the rules a tenant does not apply, and leaves a finding where there are any.
    mutating func switchRules(_ call: inout ManagementCall, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let names = try call.fields.texts("off", .word, limit: RuleSwitch.allCases.count) ?? []
        guard call.fields.take("off") != nil else {
            throw call.fields.wrong("off", "off is required: an array of names of rules", "required")
        }
        try call.fields.end()
        var off: Set<RuleSwitch> = []
        for name in names {
            guard let rule = RuleSwitch(rawValue: name) else { throw Self.unknownRule(name) }
            off.insert(rule)
        }
        let reply = try change(call) { (realm: inout Realm) throws(Refusal) in
            var tenant = realm.tenant
            tenant.rulesOff = off
            realm.save(tenant, &turn)
            return .json(200, realm.rulesJSON)
        }
        noteRulesOff(call["tenant"])
        if !off.isEmpty {
            turn.remarks.append(
                Turn.Remark(
                    rule: "rules.off", expected: "every rule applied",
                    actual: "tenant \(call["tenant"]) without \(off.names.joined(separator: ", "))"))
        }
        return reply
    }

    private static func unknownRule(_ name: String) -> Refusal {
        let nearest = Nearest.match(name, among: RuleSwitch.allCases.map(\.rawValue))
        let hint = nearest.map { "the nearest is \($0)" } ?? "GET lists them all"
        return .problem(
            422, "invalid_field", "off: no rule \(Clipped.text(name)); \(hint)", field: "off",
            rule: "known")
    }
}

extension Realm {
    /// Every rule that can be switched off, where it is stated, and whether it is applied.
    var rulesJSON: JSON {
        let rules = RuleSwitch.allCases.map { rule -> JSON in
            .object([
                ("rule", .string(rule.rawValue)), ("source", .string(rule.source)), ("wanted", .string(rule.wanted)),
                ("applied", .bool(!skips(rule))),
            ])
        }
        return .object([("off", .texts(tenant.rulesOff.names)), ("rules", .array(rules))])
    }
}
