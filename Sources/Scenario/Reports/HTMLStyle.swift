/// How the page looks, by day and by night.
enum HTMLStyle {
    static let text = """
        :root{color-scheme:light dark;--ink:#1c1e21;--faint:#667;--paper:#fff;--line:#dde;--good:#176f3a;--bad:#b3261e;\
        --soft:#f5f6f8;--warn:#8a5a00}
        @media(prefers-color-scheme:dark){:root{--ink:#e6e7ea;--faint:#9aa;--paper:#16181b;--line:#33373d;\
        --good:#5fce8a;--bad:#ff8a80;--soft:#1f2226;--warn:#e5b567}}
        body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:62rem;\
        margin:2rem auto;padding:0 1rem}
        h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}h3{font-size:.95rem;margin:1rem 0 .25rem}
        h3.failed{color:var(--bad)}.faint{color:var(--faint);font-weight:normal;font-size:.85em}
        .tiles{list-style:none;display:flex;flex-wrap:wrap;gap:.5rem;padding:0}
        .tiles li{background:var(--soft);border-left:4px solid var(--line);padding:.4rem .9rem;border-radius:4px}
        .tiles b{font-size:1.3rem}.tiles .passed{border-color:var(--good)}.tiles .failed,.tiles .error\
        {border-color:var(--bad)}.tiles .expected{border-color:var(--warn)}
        .case{border:1px solid var(--line);border-left-width:4px;border-radius:4px;margin:.4rem 0;padding:.3rem .8rem}
        .case.passed{border-left-color:var(--good)}.case.failed,.case.error{border-left-color:var(--bad)}
        .case.expected{border-left-color:var(--warn)}.case>summary{cursor:pointer}
        .mark{display:inline-block;min-width:5em;font-size:.8em;text-transform:uppercase;letter-spacing:.04em}
        .passed>summary .mark,.good{color:var(--good)}.failed>summary .mark,.error>summary .mark,.bad{color:var(--bad)}
        table{border-collapse:collapse;width:100%;font-size:.9em}
        th{text-align:left;font-weight:600;vertical-align:top;width:8em}
        td,th{padding:.2rem .5rem .2rem 0;border-top:1px solid var(--line)}
        td{overflow-wrap:anywhere}.time{text-align:right;white-space:nowrap;color:var(--faint)}
        .quiet th,.quiet td{color:var(--faint);font-weight:normal}
        pre{background:var(--soft);padding:.6rem;border-radius:4px;overflow:auto;font-size:.85em;white-space:pre-wrap}
        .found{border-left:4px solid var(--bad)}
        """
}
