"""Financial processes as chains of events whose order is forced: each event names what the one before made possible.

``{company}``, ``{rival}``, ``{bank}``, ``{amount}``, ``{percent}`` and ``{rate}`` are drawn; the events of one chain
are written in their right order.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Language: TypeAlias = Literal["en", "cn"]


class Chain(NamedTuple):
    """A process: its name, the situation, and its events in order, by language."""

    name: str
    situation: dict[Language, str]
    events: dict[Language, tuple[str, ...]]


CHAINS: tuple[Chain, ...] = (
    Chain(
        "listing",
        {
            "en": "{company}, a private maker of industrial sensors, goes public.",
            "cn": "未上市的工业传感器制造商{company}筹备并完成首次公开募股。",
        },
        {
            "en": (
                "The board of {company} resolves to go public and appoints {bank} as lead underwriter.",
                "The newly appointed underwriter completes due diligence, and the draft registration statement is "
                "filed.",
                "The regulator answers the filed draft with a letter of comments on revenue recognition.",
                "An amended statement that settles the regulator's comments is filed, now with a price range.",
                "With the price range public, management presents to investors on a two-week roadshow.",
                "On the last evening of the roadshow the order book closes and the offer price is fixed.",
                "The morning after pricing, the shares open {percent}% above the offer price.",
                "Six months after the first day of trading, the lock-up of the founders ends.",
            ),
            "cn": (
                "{company}董事会决议上市，并聘请{bank}担任主承销商。",
                "新聘的主承销商完成尽职调查，并递交招股书草案。",
                "监管机构就已递交的草案发出关于收入确认的问询函。",
                "公司递交回复问询的修订稿，其中首次列明发行价格区间。",
                "价格区间公布后，管理层向投资者进行为期两周的路演。",
                "路演最后一天晚上，簿记关闭，发行价确定。",
                "定价次日上午，股票以高于发行价{percent}%的价格开盘。",
                "上市交易六个月后，创始人股份的限售期届满。",
            ),
        },
    ),
    Chain(
        "tightening",
        {
            "en": "An economy overheats and its central bank reacts.",
            "cn": "某经济体过热，央行采取应对措施。",
        },
        {
            "en": (
                "Strong wage growth lifts consumer price inflation to {percent}%, well above the target.",
                "Pointing to inflation above its target, the central bank raises its policy rate to {rate}%.",
                "After the policy rate rise, {bank} and other lenders raise their mortgage rates.",
                "Facing dearer mortgages, households withdraw their applications for home loans.",
                "As fewer home loans are granted, builders start fewer houses.",
                "With fewer houses begun, {company}, a supplier of cement, announces lay-offs.",
                "The lay-offs spread through the region, and unemployment claims reach a three-year high.",
                "With the labour market visibly weaker, the central bank signals the end of its rate rises.",
            ),
            "cn": (
                "工资快速上涨，推动消费者物价涨幅升至{percent}%，远高于目标。",
                "央行以通胀高于目标为由，将政策利率上调至{rate}%。",
                "政策利率上调后，{bank}等银行提高房贷利率。",
                "面对更贵的房贷，居民纷纷撤回购房贷款申请。",
                "由于发放的购房贷款减少，开发商缩减新屋开工。",
                "新屋开工减少，水泥供应商{company}宣布裁员。",
                "裁员潮在当地蔓延，失业救济申请人数升至三年新高。",
                "鉴于就业市场明显走弱，央行暗示加息周期结束。",
            ),
        },
    ),
    Chain(
        "margin-spiral",
        {
            "en": "A leveraged fund has to unwind a concentrated position in {company}.",
            "cn": "一只高杠杆基金被迫平掉其在{company}的集中持仓。",
        },
        {
            "en": (
                "A fund buys {amount} million dollars of {company} shares, most of it on credit from {bank}.",
                "{company} warns that its profit will miss the forecast on which the fund had built its position.",
                "On the profit warning the share falls {percent}% in a day.",
                "After the day's fall the value of the collateral is below the margin that the broker requires.",
                "The broker sends the fund a margin call, due the next morning.",
                "The fund has no cash to meet the call and lets the deadline pass.",
                "Upon the missed deadline the broker sells the fund's shares in a block, at a discount.",
                "The block sale leaves the broker with a loss, which it reports in its next quarterly statement.",
            ),
            "cn": (
                "某基金买入价值{amount}百万美元的{company}股票，资金大多来自{bank}的融资。",
                "{company}预警利润将低于该基金建仓时所依据的预测。",
                "盈利预警发布当日，股价下跌{percent}%。",
                "当日下跌后，抵押品价值低于券商要求的保证金。",
                "券商向该基金发出追加保证金通知，要求次日上午补足。",
                "基金没有现金补足保证金，错过了期限。",
                "期限一过，券商即以折价大宗卖出该基金的持股。",
                "大宗卖出使券商蒙受损失，并在下一份季报中披露。",
            ),
        },
    ),
    Chain(
        "takeover",
        {
            "en": "{company} acquires its competitor {rival}.",
            "cn": "{company}收购竞争对手{rival}。",
        },
        {
            "en": (
                "The chief executive of {company} asks the chairman of {rival} in private whether a sale is "
                "conceivable.",
                "Encouraged by the chairman's answer, {company} sends a non-binding offer letter.",
                "On the strength of the offer letter, {rival} opens its data room for due diligence.",
                "Due diligence being finished, both boards sign the merger agreement.",
                "The signed agreement is announced with a premium of {percent}% over the last close.",
                "Following the announcement, the shareholders of {rival} are invited to vote and approve the deal.",
                "The approved deal is cleared by the competition authority, the last condition left.",
                "All conditions being met, the deal closes and the shares of {rival} are delisted.",
            ),
            "cn": (
                "{company}首席执行官私下询问{rival}董事长是否考虑出售。",
                "得到董事长的积极回应后，{company}发出无约束力的要约函。",
                "基于该要约函，{rival}开放数据室供尽职调查。",
                "尽职调查结束后，双方董事会签署合并协议。",
                "已签署的协议对外公告，收购价较前一收盘价溢价{percent}%。",
                "公告之后，{rival}召开股东大会表决并通过该交易。",
                "获股东通过的交易取得反垄断机构批准，这是最后一项条件。",
                "全部条件满足后交易交割，{rival}股票退市。",
            ),
        },
    ),
    Chain(
        "letter-of-credit",
        {
            "en": "{company} imports machines from {rival} under a letter of credit.",
            "cn": "{company}以信用证方式从{rival}进口机器。",
        },
        {
            "en": (
                "{company} and {rival} sign a sales contract that calls for payment by letter of credit.",
                "Holding the signed contract, the buyer applies to {bank} for the letter of credit.",
                "The buyer's bank grants the application and issues the credit to the seller's bank.",
                "Advised by its bank that the credit has been issued, the seller ships the machines.",
                "The carrier hands the seller a bill of lading for the machines on board.",
                "The seller presents the bill of lading and the invoice to its bank.",
                "The documents that were presented are found compliant, and the issuing bank pays.",
                "Having reimbursed its bank, the buyer receives the documents and collects the machines in the port.",
            ),
            "cn": (
                "{company}与{rival}签订销售合同，约定以信用证付款。",
                "买方凭已签合同向{bank}申请开立信用证。",
                "买方银行批准申请，向卖方银行开出信用证。",
                "卖方收到银行关于信用证已开立的通知后，装运机器。",
                "承运人就已装船的机器向卖方签发提单。",
                "卖方向其银行提交提单和发票。",
                "所提交单据审核相符，开证行付款。",
                "买方向银行偿付后取得单据，并到港口提货。",
            ),
        },
    ),
    Chain(
        "restructuring",
        {
            "en": "{company} can no longer carry its debt.",
            "cn": "{company}无力继续偿还债务。",
        },
        {
            "en": (
                "{company} borrows {amount} million dollars to build a plant for which demand is expected to double.",
                "Demand for the output of the new plant stays {percent}% below plan, and cash runs short.",
                "For lack of cash the company misses a coupon on its bonds.",
                "The grace period after the missed coupon passes without payment, and default is declared.",
                "The declared default makes all other loans of the company due at once.",
                "Unable to repay the loans that fell due, the company files for protection from creditors.",
                "Under court protection, creditors agree to swap half of their claims into shares.",
                "The court confirms the swap, and the company leaves the proceedings with new owners.",
            ),
            "cn": (
                "{company}借款{amount}百万美元新建工厂，预期需求将翻倍。",
                "新工厂产品的需求比计划低{percent}%，现金开始短缺。",
                "由于缺乏现金，公司未能支付一期债券利息。",
                "未付利息的宽限期届满仍未支付，被宣布违约。",
                "违约宣布后，公司其他贷款全部提前到期。",
                "公司无力偿还提前到期的贷款，申请破产保护。",
                "在法院保护下，债权人同意将一半债权转为股权。",
                "法院确认债转股方案，公司以新股东结构退出程序。",
            ),
        },
    ),
    Chain(
        "dividend",
        {
            "en": "{company} pays a cash dividend.",
            "cn": "{company}派发现金股利。",
        },
        {
            "en": (
                "The auditors sign the annual accounts of {company}, which show a profit up by {percent}%.",
                "On the basis of the audited profit the board proposes a dividend to the shareholders.",
                "The annual meeting approves the dividend that the board proposed.",
                "After the approval, the last day on which buyers still acquire the dividend right goes by.",
                "The next morning the share opens ex dividend, lower by about the amount of the dividend.",
                "One settlement cycle after the last day with dividend right, the company closes its register of "
                "holders.",
                "The holders in the closed register receive the dividend on their accounts.",
                "Holders who were paid claim back part of the tax withheld from the payment.",
            ),
            "cn": (
                "审计师签署{company}年度报告，利润增长{percent}%。",
                "董事会依据经审计的利润，向股东提出分红预案。",
                "年度股东大会通过董事会提出的分红预案。",
                "预案通过后，最后一个买入仍享有分红权的交易日结束。",
                "次日上午，股票除息开盘，价格下调幅度约等于每股股利。",
                "在含权最后交易日的交收完成时，公司确定股东名册。",
                "名册上的股东账户收到现金股利。",
                "收到股利的股东申请退还派息时被预扣的部分税款。",
            ),
        },
    ),
    Chain(
        "bank-run",
        {
            "en": "{bank} loses the confidence of its depositors.",
            "cn": "{bank}失去储户信任。",
        },
        {
            "en": (
                "{bank} puts {amount} million dollars of new deposits into long-dated government bonds.",
                "Interest rates rise by {rate} percentage points, and the market value of those bonds falls.",
                "To raise cash, the bank sells part of the fallen bonds and has to book the loss.",
                "With the booked loss, the bank announces an emergency sale of new shares.",
                "The announced share sale alarms large depositors, who begin to withdraw.",
                "News of the withdrawals spreads, and a queue of orders exceeds the bank's cash.",
                "Because orders can no longer be paid out, the regulator closes the bank.",
                "The receiver of the closed bank sells its branches to a competitor.",
            ),
            "cn": (
                "{bank}将{amount}百万美元新增存款投入长期国债。",
                "利率上升{rate}个百分点，这些国债的市值下跌。",
                "为筹集现金，银行卖出部分已下跌的国债，不得不确认亏损。",
                "亏损入账后，银行宣布紧急增发新股。",
                "增发消息引起大额储户恐慌，开始提款。",
                "提款消息扩散，排队的提款指令超过银行的现金。",
                "由于无法继续兑付，监管机构关闭该银行。",
                "被关闭银行的接管人将其网点出售给竞争对手。",
            ),
        },
    ),
    Chain(
        "short-squeeze",
        {
            "en": "Short sellers of {company} are caught out.",
            "cn": "做空{company}的投资者遭遇逼空。",
        },
        {
            "en": (
                "Convinced that {company} is overvalued, hedge funds borrow its shares and sell them short.",
                "The exchange reports that short positions have reached {percent}% of the free float.",
                "Having read the report on short positions, private investors start to buy the share together.",
                "The concerted purchases lift the price by half within a week.",
                "At the higher price, brokers ask the short sellers for additional collateral.",
                "Unwilling to post more collateral, several short sellers buy the shares back.",
                "The purchases of the short sellers drive the price up further, to a record.",
                "At the record price the company sells new shares and repays its loan from {bank}.",
            ),
            "cn": (
                "对冲基金认为{company}被高估，借入其股票卖空。",
                "交易所披露，空头仓位已达自由流通股的{percent}%。",
                "看到空头仓位披露后，散户开始联合买入该股。",
                "联合买入使股价一周内上涨一半。",
                "股价上涨后，券商要求空头追加保证金。",
                "几家空头不愿追加保证金，选择买回股票。",
                "空头的回补买盘推动股价继续上涨，创出新高。",
                "公司趁股价新高增发新股，并偿还{bank}的贷款。",
            ),
        },
    ),
    Chain(
        "securitisation",
        {
            "en": "{bank} turns car loans into securities.",
            "cn": "{bank}将汽车贷款证券化。",
        },
        {
            "en": (
                "{bank} lends {amount} million dollars to buyers of cars.",
                "The bank selects the granted loans without arrears and gathers them in a pool.",
                "The pool is sold to a special purpose vehicle set up for it.",
                "The vehicle, now owner of the pool, has notes in three tranches rated.",
                "The rated notes are placed with insurers and funds.",
                "With the proceeds of the placement the vehicle pays the bank for the pool.",
                "With the money received for the pool the bank grants new car loans.",
            ),
            "cn": (
                "{bank}向购车者发放{amount}百万美元贷款。",
                "银行从已发放贷款中挑选无逾期者组成资产池。",
                "资产池出售给为此设立的特殊目的载体。",
                "载体取得资产池后，将三档票据送交评级。",
                "获得评级的票据销售给保险公司和基金。",
                "载体用票据发行所得向银行支付资产池价款。",
                "银行用收到的资产池价款发放新的汽车贷款。",
            ),
        },
    ),
    Chain(
        "restatement",
        {
            "en": "An accounting error at {company} comes to light.",
            "cn": "{company}的会计差错曝光。",
        },
        {
            "en": (
                "{company} books {amount} million dollars of revenue before the goods have left its warehouse.",
                "An employee notices the early bookings and reports them to the audit committee.",
                "Upon the employee's report the committee commissions an independent inquiry.",
                "The inquiry confirms that revenue was overstated by {percent}%.",
                "After the inquiry's result the company announces that past reports can no longer be relied upon.",
                "The announcement makes the share fall sharply.",
                "Holders who lost money in the fall bring a class action.",
                "The company settles the class action and insures itself against further claims.",
            ),
            "cn": (
                "{company}在货物出库之前提前确认{amount}百万美元收入。",
                "一名员工发现提前入账，并向审计委员会举报。",
                "接到举报后，委员会委托独立机构调查。",
                "调查证实收入被高估{percent}%。",
                "调查结果出炉后，公司公告以往财务报告不可再依赖。",
                "公告导致股价大跌。",
                "因股价大跌受损的股东提起集体诉讼。",
                "公司就集体诉讼达成和解，并投保以防范后续索赔。",
            ),
        },
    ),
    Chain(
        "currency-hedge",
        {
            "en": "{company} sells abroad and hedges the currency risk.",
            "cn": "{company}出口产品并对冲汇率风险。",
        },
        {
            "en": (
                "{company} wins a contract worth {amount} million in a foreign currency, payable in six months.",
                "For the foreign amount of the contract, the treasurer sells the currency forward to {bank}.",
                "Within weeks of the forward sale the foreign currency loses {percent}%.",
                "At the quarter's end the company shows a gain on the forward from the fall of the currency.",
                "Six months after signing, the customer pays the contract in the weakened currency.",
                "The amount just received from the customer is delivered to the bank under the forward.",
                "Against this delivery the bank credits the company at the rate fixed half a year before.",
                "With the credited home currency, the company pays the suppliers of the contract.",
            ),
            "cn": (
                "{company}赢得一份价值{amount}百万外币、六个月后付款的合同。",
                "针对合同的外币金额，财务主管向{bank}卖出远期外汇。",
                "卖出远期后几周内，该外币贬值{percent}%。",
                "季度末，公司因外币贬值在该远期上确认收益。",
                "签约六个月后，客户以已贬值的外币支付合同款。",
                "刚收到的外币按远期合约交付给银行。",
                "银行收到交付后，按半年前锁定的汇率将本币记入公司账户。",
                "公司用记入的本币支付该合同的供应商货款。",
            ),
        },
    ),
)
