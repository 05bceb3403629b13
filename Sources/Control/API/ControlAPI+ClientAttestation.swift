import Encoding
import Engine

/// How a flow's client authenticates by attestation.
extension ControlAPI {
    /// Reads `client_attestation` and `client_attestation_defect`; nil where a flow has neither.
    func clientAttestation(_ fields: BodyFields) throws(ControlProblem) -> ClientAttestationOrder? {
        guard let order = try fields.object("client_attestation", allowing: ["mode", "attester"]) else {
            guard !fields.has("client_attestation_defect") else {
                throw .missing("client_attestation", "what 'client_attestation_defect' is a defect of")
            }
            return nil
        }
        let mode: ClientAttestationOrder.Mode = try choice(
            "client_attestation.mode", try order.optionalString("mode") ?? "normal")
        var attester = ClientAttestationOrder.Attester.testRoots
        if let given = try order.object("attester", allowing: Self.assertionFields) {
            switch try assertions(given) {
            case .key(let file): attester = .key(file)
            case .command(let command): attester = .command(command)
            case .backend(let url): attester = .backend(url)
            case .provider: throw .missing("key", "one of 'key', 'command' and 'url'")
            }
        }
        let defect: ClientAttestationDefect = try choice(
            "client_attestation_defect", try fields.optionalString("client_attestation_defect") ?? "none")
        return ClientAttestationOrder(mode: mode, attester: attester, defect: defect)
    }

    private func choice<Choice: RawRepresentable & CaseIterable>(
        _ field: String, _ text: String
    ) throws(ControlProblem) -> Choice where Choice.RawValue == String {
        if let choice = Choice(rawValue: text) { return choice }
        let known = Choice.allCases.map(\.rawValue)
        let near = Nearest.match(text, among: known).map { "; the nearest is \($0)" } ?? ""
        throw .invalid(field, "one of \(known.joined(separator: ", "))\(near)", got: .string(text))
    }
}
