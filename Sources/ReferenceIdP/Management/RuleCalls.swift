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
        let nearest = RuleSwitch.allCases.map(\.rawValue).min { $0.distance(to: name) < $1.distance(to: name) } ?? ""
        return .problem(
            422, "invalid_field", "off: no rule \(Clipped.text(name)); the nearest is \(nearest)", field: "off",
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

extension String {
    /// How many characters must be put in, taken out or changed to make one of the other.
    fileprivate func distance(to other: String) -> Int {
        let other = Array(other.utf8)
        var row = Array(0...other.count)
        for (index, byte) in utf8.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in other.indices {
                let changed = diagonal + (byte == other[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(changed, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[other.count]
    }
}
