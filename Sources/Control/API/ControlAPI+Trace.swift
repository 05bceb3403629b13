import Encoding
import Engine
import HTTP

/// Explaining what became of a flow.
extension ControlAPI {
    func trace(_ id: String) async throws(ControlProblem) -> HTTPResponse {
        let view = try await controlling { () throws(EngineError) in try await engine.flow(FlowID(rawValue: id)) }
        let flow = view.json(after: 0, at: clock.now(), showingTokens: false)
        return .json(FlowTrace(flow: flow, findings: await findings(about: flow)).document)
    }

    /// What the reference IdP of this process noted about the calls of a flow.
    private func findings(about flow: JSON) async -> [Int64: JSON] {
        guard let issuer = flow["issuer"]?.string,
            let idp = idps.first(where: { issuer.hasPrefix($0.origin + "/") })
        else { return [:] }
        var found: [Int64: JSON] = [:]
        for number in (flow["steps"]?.array ?? []).compactMap({ $0["finding"]?.int }) where found[number] == nil {
            let page = await engine.document(at: "\(idp.management)/findings?after=\(number - 1)&limit=1")
            if let finding = page?["findings"]?.array?.first, finding["sequence"]?.int == number {
                found[number] = finding
            }
        }
        return found
    }
}
